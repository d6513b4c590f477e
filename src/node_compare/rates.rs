//! Reading the CSV: `"binary","filename","configuration","rate","time"`.

use std::collections::BTreeMap;

use crate::system::{Error, Result};

/// The rates of every benchmark and binary, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RateTable {
    /// The binaries in the order in which they first occur.
    pub binaries: Vec<String>,
    /// For each benchmark (`filename configuration`) the rates of each binary.
    pub benchmarks: BTreeMap<String, BTreeMap<String, Vec<f64>>>,
    /// Lines that are no results.
    pub stray: Vec<StrayLine>,
}

/// A line that is no result: something a benchmark printed, as a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayLine {
    /// Its number in the file, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads both ways of quoting that `compare.js` has had: `"a","b"` and `"a", "b"`. Lines that are no results
/// are noted and skipped.
pub fn parse(text: &str) -> Result<RateTable> {
    let mut records = Records { rest: text.trim_start_matches('\u{feff}'), line: 0 };
    let not_ours = |why: &str| {
        Error::usage("this is not a CSV file of Node.js's benchmark/compare.js").because(why).help(
            "`node benchmark/compare.js --old ./old --new ./new -- http > results.csv` writes one",
        )
    };
    let Some((_, header)) = records.next() else { return Err(not_ours("it is empty")) };
    let column = |name: &str| {
        header
            .iter()
            .position(|field| field == name)
            .ok_or_else(|| not_ours(&format!("its first line names no column `{name}`")))
    };
    let (binary, filename) = (column("binary")?, column("filename")?);
    let (configuration, rate) = (column("configuration")?, column("rate")?);
    let mut table = RateTable::default();
    for (line, fields) in records {
        if fields.len() != header.len() {
            let reason = format!("it has {} fields instead of {}", fields.len(), header.len());
            table.stray.push(StrayLine { line, reason });
            continue;
        }
        let number = match &*fields[rate] {
            // What JavaScript prints, and what R prints.
            "Infinity" | "Inf" => Ok(f64::INFINITY),
            text => text.parse::<f64>(),
        };
        let Ok(number) = number else {
            let reason = format!("its rate is `{}`", fields[rate]);
            table.stray.push(StrayLine { line, reason });
            continue;
        };
        if !table.binaries.contains(&fields[binary]) {
            table.binaries.push(fields[binary].clone());
        }
        let name = format!("{} {}", fields[filename], fields[configuration]);
        let rates = table.benchmarks.entry(name.trim_end().to_owned()).or_default();
        rates.entry(fields[binary].clone()).or_default().push(number);
    }
    if table.benchmarks.is_empty() {
        return Err(not_ours("it has no results"));
    }
    Ok(table)
}

/// The records of a CSV text, each with the number of its first line.
struct Records<'a> {
    rest: &'a str,
    line: usize,
}

impl Iterator for Records<'_> {
    type Item = (usize, Vec<String>);

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(after) = self.rest.strip_prefix(['\n', '\r']) {
            self.line += usize::from(self.rest.starts_with('\n'));
            self.rest = after;
        }
        if self.rest.is_empty() {
            return None;
        }
        let first_line = self.line + 1;
        let mut fields = Vec::new();
        loop {
            fields.push(self.field());
            match self.rest.strip_prefix(',') {
                Some(after) => self.rest = after,
                None => return Some((first_line, fields)),
            }
        }
    }
}

impl Records<'_> {
    /// Takes one field, up to the comma or the end of the line. Blanks around it do not count.
    fn field(&mut self) -> String {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        let mut field = String::new();
        if let Some(quoted) = self.rest.strip_prefix('"') {
            self.rest = quoted;
            // Up to a quote that is not doubled; line feeds may be inside.
            while let Some(end) = self.rest.find('"') {
                field += &self.rest[..end];
                self.rest = &self.rest[end + 1..];
                match self.rest.strip_prefix('"') {
                    Some(after) => {
                        field.push('"');
                        self.rest = after;
                    }
                    None => break,
                }
            }
            self.line += field.matches('\n').count();
        }
        let end = self.rest.find([',', '\n']).unwrap_or(self.rest.len());
        field += self.rest[..end].trim_end();
        self.rest = &self.rest[end..];
        field
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_ways_of_quoting_are_read() {
        for text in [
            "\"binary\",\"filename\",\"configuration\",\"rate\",\"time\"\n\"old\",\"a.js\",\"v=\"\"x,y\"\" n=1\",10,1\n",
            "\"binary\", \"filename\", \"configuration\", \"rate\", \"time\"\r\n\"old\", \"a.js\", \"v=\"\"x,y\"\" n=1\", 10, 1\r\n",
        ] {
            let table = parse(text).unwrap();
            assert_eq!(table.binaries, ["old"]);
            assert_eq!(table.benchmarks["a.js v=\"x,y\" n=1"]["old"], [10.0]);
            assert!(table.stray.is_empty());
        }
    }

    #[test]
    fn stray_lines_are_counted_and_skipped() {
        let text = "binary,filename,configuration,rate,time\nold,a,\"x\ny\",1,1\nWarning!\nold,a,z,fast,1\n";
        let table = parse(text).unwrap();
        let lines: Vec<usize> = table.stray.iter().map(|stray| stray.line).collect();
        assert_eq!(lines, [4, 5]);
        assert_eq!(table.benchmarks.keys().collect::<Vec<_>>(), ["a x\ny"]);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(binary|old|[\",\n 0-9.a]){0,60}") {
            let header = "binary,filename,configuration,rate,time\n";
            let _ = parse(&format!("{header}{text}"));
            let _ = parse(&text);
        }
    }
}
