//! Whether several runs agree: what all forms say, and a table for people.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr;

use crate::results::{Agreement, AgreementOn, Answer, Estimate};
use crate::stats::Verdict;

use super::natural_order;
use super::text::one_line;

/// Renders the answer in a sentence, and a row for each benchmark: what each run says, and all together.
pub fn agreement_table(agreement: &Agreement) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let several = agreement.revisions.len() > 2;
    let mut header = vec![String::new()];
    header.extend(agreement.runs.iter().map(|run| one_line(run)));
    header.extend(["together".to_owned(), String::new()]);
    rows.push(header);
    for (name, on) in named(agreement) {
        let name = if several { format!("{name} ({})", one_line(&on.revision)) } else { name };
        let mut row = vec![name];
        row.extend(on.runs.iter().map(|run| run.as_ref().map_or_else(|| "-".to_owned(), cell)));
        row.extend([cell(&on.combined), answer(on, agreement, one_line)]);
        rows.push(row);
    }
    let columns = rows[0].len();
    let mut widths = vec![0; columns];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.width());
        }
    }
    let mut text = format!("{}\n\n", sentence(agreement));
    for row in rows.iter().filter(|_| rows.len() > 1) {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.width());
            match column {
                0 => _ = write!(line, " {cell}{padding}"),
                last if last + 1 == columns => _ = write!(line, "  {cell}"),
                _ => _ = write!(line, "  {padding}{cell}"),
            }
        }
        _ = writeln!(text, "{}", line.trim_end());
    }
    _ = writeln!(
        text,
        "\nImprovement against {} and its accuracy (*). Runs contradict each other where they differ by more than\n\
         {} and by more than chance: somewhere in the table by mistake in at most 5 % of all tables.",
        one_line(&agreement.reference),
        agreement.margin_percent
    );
    text
}

/// All that was compared, each with as much of its benchmark's name as tells it apart, in the order of the names.
pub(super) fn named(agreement: &Agreement) -> Vec<(String, &AgreementOn)> {
    let mut targets: HashMap<&str, HashSet<(&str, &str)>> = HashMap::new();
    for on in &agreement.benchmarks {
        targets.entry(&on.benchmark).or_default().insert((&on.package, &on.target));
    }
    let name = |on: &AgreementOn| {
        let benchmark = one_line(&on.benchmark);
        if targets[on.benchmark.as_str()].len() == 1 {
            return benchmark;
        }
        format!("{}::{}::{benchmark}", one_line(&on.package), one_line(&on.target))
    };
    let mut all: Vec<_> = agreement.benchmarks.iter().map(|on| (name(on), on)).collect();
    // Stable, so that several revisions of one benchmark keep their order.
    all.sort_by(|(a, _), (b, _)| natural_order(a, b));
    all
}

/// How many benchmarks have which answer.
pub(super) fn sentence(agreement: &Agreement) -> String {
    let count =
        |is: fn(&Answer) -> bool| agreement.benchmarks.iter().filter(|on| is(&on.answer)).count();
    let parts: Vec<String> = [
        (count(|a| *a == Answer::Contradict), "contradict"),
        (count(|a| *a == Answer::Agree), "agree"),
        (count(|a| matches!(a, Answer::Noisier(_))), "agree, but one run is noisier"),
        (count(|a| *a == Answer::OnlyOne), "measured in one run only"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    if parts.is_empty() { "nothing was compared".to_owned() } else { parts.join("; ") }
}

/// `*** -16.67 % ±0.17%`
pub(super) fn cell(estimate: &Estimate) -> String {
    if estimate.verdict == Verdict::IdenticalCode {
        return "identical code".to_owned();
    }
    let mut words = vec![estimate.confidence.stars().to_owned()];
    words.extend(estimate.improvement_percent.map(|percent| format!("{:.2} %", percent.value())));
    words.extend(estimate.accuracy_percent.map(|percent| format!("±{:.2}%", percent.value())));
    words.retain(|word| !word.is_empty());
    if words.is_empty() { "-".to_owned() } else { words.join(" ") }
}

/// The answer for one benchmark. How runs are called is up to the form.
pub(super) fn answer(
    on: &AgreementOn,
    agreement: &Agreement,
    called: fn(&str) -> String,
) -> String {
    match on.answer {
        Answer::Agree => "agree".to_owned(),
        Answer::Noisier(run) => {
            let name = agreement.runs.get(run).map_or("one", String::as_str);
            format!("agree; {} is noisier", called(name))
        }
        Answer::Contradict => match on.adjusted_p_value {
            Some(p) if p >= 0.0001 => format!("contradict (p = {p:.4})"),
            _ => "contradict (p < 0.0001)".to_owned(),
        },
        Answer::OnlyOne => "in one run only".to_owned(),
    }
}
