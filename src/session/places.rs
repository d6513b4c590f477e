//! Where a benchmark is written, as far as its text shows it: for remarks at that line.
//!
//! In: the sources of a bench target and the ids of its benchmarks. Out: files and lines. Criterion's ids are
//! texts in the source, other harnesses' are names of functions; what is made of parts at run time is found by them.

use std::path::Path;

use crate::build::SideBuild;
use crate::model::Place;
use crate::plan::Plan;

/// Finds the places of a plan's benchmarks on the side that was built here, whose files are in this directory.
pub fn find_places(plan: &mut Plan, build: &SideBuild, root: &Path) {
    for target in &mut plan.targets {
        let same = |package: &str, name: &str| {
            package == target.name.package && name == target.name.target
        };
        let executables = build.executables.iter();
        let of_it = executables.filter(|executable| same(&executable.package, &executable.target));
        // A package may have a bench target and a library of one name.
        let Some(executable) = of_it.max_by_key(|executable| executable.is_bench_target) else {
            continue;
        };
        let Some(path) = relative(&executable.source, root) else { continue };
        let text = std::fs::read_to_string(&executable.source).unwrap_or_default();
        for benchmark in &mut target.benchmarks {
            let line = line_of(&text, &benchmark.id).unwrap_or(1);
            benchmark.place = Some(Place { path: path.clone(), line });
        }
    }
}

/// None if the file is not in the repository, or has a name that is no text.
fn relative(file: &Path, root: &Path) -> Option<String> {
    let parts = file.strip_prefix(root).ok()?.iter().map(|part| part.to_str());
    Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
}

/// The line in which the benchmark is named: by its whole id, else by a part of it, else by its function.
fn line_of(text: &str, id: &str) -> Option<u32> {
    let literal = |part: &str| format!("\"{part}\"");
    let is_name = |part: &&str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let (group, rest) = id.split_once('/').unwrap_or((id, ""));
    let whole = std::iter::once(literal(id));
    let parts = rest.split('/').chain([group]).filter(is_name).map(literal);
    let functions = id.rsplit("::").filter(is_name).map(|name| format!("fn {name}("));
    let mut wanted = whole.chain(parts).chain(functions);
    let code = || text.lines().zip(1..).filter(|(line, _)| !line.trim_start().starts_with("//"));
    wanted.find_map(|wanted| code().find(|(line, _)| line.contains(&wanted)).map(|(_, n)| n))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        // "parse/100" is slow
        fn other(c: &mut Criterion) {
            c.bench_function("plain", |b| b.iter(|| 1));
            let mut group = c.benchmark_group("parse");
            for n in [100, 200] {
                group.bench_with_input(BenchmarkId::new("fast", n), &n, |b, n| b.iter(|| n));
                group.bench_with_input(BenchmarkId::from_parameter(n), &n, |b, n| b.iter(|| n));
            }
            c.bench_function("whole/id", |b| b.iter(|| 1));
        }
        #[bench]
        fn of_libtest(b: &mut Bencher) {}
    "#;

    #[test]
    fn a_benchmark_is_found_by_its_id_or_what_it_is_made_of() {
        for (id, line) in [
            ("plain", Some(4)),
            ("parse/fast/100", Some(7)),
            ("parse/100", Some(5)),
            ("whole/id", Some(10)),
            ("module::of_libtest", Some(13)),
            ("nowhere", None),
            ("", None),
        ] {
            assert_eq!(line_of(TEXT, id), line, "{id}");
        }
    }

    #[test]
    fn a_file_outside_the_repository_has_no_place() {
        let root = Path::new("/tmp/tree");
        assert_eq!(relative(&root.join("a/benches/b.rs"), root).unwrap(), "a/benches/b.rs");
        assert_eq!(relative(Path::new("/tmp/other/b.rs"), root), None);
    }
}
