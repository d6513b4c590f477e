//! What a manifest says of bench targets, taken from one revision's and put into another's. Pure: texts in,
//! texts out, with everything else in them left as it was.

use std::path::{Path, PathBuf};

use toml_edit::{
    Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value, value,
};

use crate::system::normalize;

use super::paths::{from_to, slashes};

/// Dependencies of one kind, by the names of their tables: the second spelling is an old one.
pub type Kind = &'static [&'static str];
/// Those that only tests and benchmarks have.
pub const DEV_DEPENDENCIES: Kind = &["dev-dependencies", "dev_dependencies"];
/// Those of the package itself.
pub const DEPENDENCIES: Kind = &["dependencies"];
/// Those of its build script.
pub const BUILD_DEPENDENCIES: Kind = &["build-dependencies", "build_dependencies"];

/// A bench target as its own manifest describes it.
#[derive(Debug, Clone)]
pub struct BenchTarget {
    /// Its name.
    pub name: String,
    /// Its main source, relative to the package.
    pub source: PathBuf,
    /// The edition that it is written in.
    pub edition: String,
    /// The features without which it is not built.
    pub required_features: Vec<String>,
}

/// A dependency of a package.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// The key under which it stands.
    pub key: String,
    /// `cfg(unix)`, if it is one for some platforms only.
    pub platform: Option<String>,
    /// What it is, nothing inherited.
    pub specification: InlineTable,
    /// The directory of a path dependency.
    pub directory: Option<PathBuf>,
}

impl Dependency {
    /// The name of the package.
    pub fn package(&self) -> &str {
        self.specification.get("package").and_then(Value::as_str).unwrap_or(&self.key)
    }
}

/// The dependencies of a package of one kind. What they inherit from the workspace is put in its place; relative paths
/// are made absolute.
pub fn dependencies(
    kind: Kind,
    manifest: &DocumentMut,
    package: &Path,
    workspace: &DocumentMut,
    root: &Path,
) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut take = |platform: Option<&str>, table: &dyn TableLike| {
        for name in kind {
            let dependencies = table.get(name).and_then(Item::as_table_like);
            for (key, item) in dependencies.into_iter().flat_map(TableLike::iter) {
                let own = specification(item);
                let is_inherited = own.get("workspace").and_then(Value::as_bool) == Some(true);
                let shared = workspace.get("workspace").and_then(|w| w.get("dependencies"));
                let shared = shared.and_then(|all| all.get(key)).map(specification);
                let (specification, from) = match shared {
                    Some(shared) if is_inherited => (inherited(shared, &own), root),
                    _ => (own, package),
                };
                let path = specification.get("path").and_then(Value::as_str);
                let directory = path.map(|path| normalize(&from.join(path)));
                found.push(Dependency {
                    key: key.to_owned(),
                    platform: platform.map(str::to_owned),
                    specification,
                    directory,
                });
            }
        }
    };
    take(None, manifest.as_table());
    let platforms = manifest.get("target").and_then(Item::as_table_like);
    for (platform, item) in platforms.into_iter().flat_map(TableLike::iter) {
        if let Some(table) = item.as_table_like() {
            take(Some(platform), table);
        }
    }
    found
}

/// A dependency as a table, however it is written.
fn specification(item: &Item) -> InlineTable {
    let mut table = match item {
        Item::Value(Value::String(version)) => {
            InlineTable::from_iter([("version", Value::from(version.value().as_str()))])
        }
        Item::Value(Value::InlineTable(table)) => table.clone(),
        Item::Table(table) => table.clone().into_inline_table(),
        _ => InlineTable::new(),
    };
    table.fmt();
    table
}

/// What a dependency is with `workspace = true`: the workspace's, with features of its own. Cargo lets
/// a member turn default features on, but not off.
fn inherited(mut shared: InlineTable, own: &InlineTable) -> InlineTable {
    let mut features = Array::new();
    for table in [&shared, own] {
        let listed = table.get("features").and_then(Value::as_array);
        for feature in listed.into_iter().flatten().filter_map(Value::as_str) {
            if !features.iter().any(|known| known.as_str() == Some(feature)) {
                features.push(feature);
            }
        }
    }
    if !features.is_empty() {
        shared.insert("features", Value::Array(features));
    }
    if own.get("default-features").and_then(Value::as_bool) == Some(true) {
        shared.remove("default-features");
    }
    if let Some(optional) = own.get("optional") {
        shared.insert("optional", optional.clone());
    }
    shared
}

/// The tables that describe bench targets, each with its source and its edition said. What is not said of a
/// target that cargo found by itself is as cargo takes it to be.
pub fn bench_tables(manifest: &DocumentMut, targets: &[BenchTarget]) -> Vec<Table> {
    let described: Vec<Table> = match manifest.get("bench") {
        Some(Item::ArrayOfTables(tables)) => tables.iter().cloned().collect(),
        Some(Item::Value(Value::Array(tables))) => {
            let tables = tables.iter().filter_map(Value::as_inline_table);
            tables.map(|table| table.clone().into_table()).collect()
        }
        _ => Vec::new(),
    };
    targets
        .iter()
        .map(|target| {
            let named = |table: &&Table| {
                table.get("name").and_then(Item::as_str) == Some(target.name.as_str())
            };
            let mut table = described.iter().find(named).cloned().unwrap_or_default();
            table.set_position(None);
            table.decor_mut().clear();
            table.insert("name", value(&target.name));
            table.insert("path", value(slashes(&target.source)));
            table.insert("edition", value(&target.edition));
            table
        })
        .collect()
}

/// Puts these bench targets into a manifest in the place of its own.
pub fn replace_benches(manifest: &mut DocumentMut, tables: Vec<Table>) {
    if let Some(package) = manifest.get_mut("package").and_then(Item::as_table_like_mut) {
        // Nothing is a bench target that is not named.
        package.insert("autobenches", value(false));
    }
    manifest.remove("bench");
    if !tables.is_empty() {
        let tables: ArrayOfTables = tables.into_iter().collect();
        manifest.insert("bench", Item::ArrayOfTables(tables));
    }
}

/// Takes a bench target out of a manifest in which [`replace_benches`] has put it.
pub fn remove_bench(manifest: &mut DocumentMut, name: &str) {
    if let Some(tables) = manifest.get_mut("bench").and_then(Item::as_array_of_tables_mut) {
        tables.retain(|table| table.get("name").and_then(Item::as_str) != Some(name));
    }
}

/// Adds dependencies of one kind to a manifest that lies in `package`. They take the place of those of the same name.
pub fn add_dependencies(
    kind: Kind,
    manifest: &mut DocumentMut,
    package: &Path,
    dependencies: &[Dependency],
) {
    for dependency in dependencies {
        remove_everywhere(kind, manifest, &dependency.key);
    }
    for dependency in dependencies {
        let mut specification = dependency.specification.clone();
        if let Some(directory) = &dependency.directory {
            specification.insert("path", slashes(&from_to(package, directory)).into());
        }
        let table = match &dependency.platform {
            None => manifest.as_table_mut() as &mut dyn TableLike,
            Some(platform) => {
                let targets = implicit_table(manifest.as_table_mut(), "target");
                implicit_table(targets, platform)
            }
        };
        let name = kind.iter().find(|name| table.contains_key(name)).unwrap_or(&kind[0]);
        let list = table.entry(name).or_insert_with(|| Item::Table(Table::new()));
        if let Some(list) = list.as_table_like_mut() {
            list.insert(&dependency.key, Item::Value(Value::InlineTable(specification)));
        }
    }
}

fn remove_everywhere(kind: Kind, manifest: &mut DocumentMut, key: &str) {
    let remove = |table: &mut dyn TableLike| {
        for name in kind {
            if let Some(list) = table.get_mut(name).and_then(Item::as_table_like_mut) {
                list.remove(key);
            }
        }
    };
    remove(manifest.as_table_mut());
    let Some(platforms) = manifest.get_mut("target").and_then(Item::as_table_like_mut) else {
        return;
    };
    for (_, item) in platforms.iter_mut() {
        if let Some(table) = item.as_table_like_mut() {
            remove(table);
        }
    }
}

/// A table within another one, made if it is not there.
fn implicit_table<'a>(table: &'a mut dyn TableLike, key: &str) -> &'a mut dyn TableLike {
    let item = table.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    if !item.is_table_like() {
        *item = Item::Table(Table::new());
    }
    item.as_table_like_mut().expect("it is one now")
}

/// The features that a manifest defines: those it names, and its optional dependencies.
pub fn has_feature(manifest: &DocumentMut, feature: &str) -> bool {
    // `dependency/feature` is cargo's to judge.
    feature.contains('/')
        || manifest.get("features").and_then(|features| features.get(feature)).is_some()
        || manifest.get("dependencies").and_then(|all| all.get(feature)).is_some_and(|dependency| {
            dependency.get("optional").and_then(Item::as_bool) == Some(true)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use snapbox::{assert_data_eq, str};

    fn parse(text: &str) -> DocumentMut {
        text.parse().unwrap()
    }

    fn target(name: &str, source: &str) -> BenchTarget {
        BenchTarget {
            name: name.to_owned(),
            source: PathBuf::from(source),
            edition: "2021".to_owned(),
            required_features: Vec::new(),
        }
    }

    const HEAD: &str = r#"
[package]
name = "sample"

[dev-dependencies]
criterion.workspace = true
rand = { workspace = true, features = ["small_rng"] }
helper = { path = "../helper" }

[target.'cfg(unix)'.dev-dependencies.libc]
version = "0.2"

[[bench]]
name = "parse"
harness = false
required-features = ["fast"]
"#;

    const WORKSPACE: &str = r#"
[workspace.dependencies]
criterion = "0.8"
rand = { version = "0.9", features = ["std"], default-features = false }
"#;

    fn laid_over(base: &str) -> String {
        let head = parse(HEAD);
        let dependencies = dependencies(
            DEV_DEPENDENCIES,
            &head,
            Path::new("/head/sample"),
            &parse(WORKSPACE),
            Path::new("/head"),
        );
        let targets = [target("parse", "benches/parse.rs"), target("found", "benches/found.rs")];
        let mut base = parse(base);
        add_dependencies(
            DEV_DEPENDENCIES,
            &mut base,
            Path::new("/head/moved/sample"),
            &dependencies,
        );
        replace_benches(&mut base, bench_tables(&head, &targets));
        base.to_string()
    }

    #[test]
    fn targets_and_dependencies_of_head_take_the_place_of_those_of_base_and_the_rest_stays() {
        let base = r#"# Ours.
[package]
name = "sample" # a name
autobenches = true

[[bench]]
name = "old"
harness = false

[dependencies]
serde = "1"

[target.'cfg(windows)'.dev-dependencies]
rand = "0.7"

[dev-dependencies]
rand = "0.7"
kept = "1" # for the tests

[profile.bench]
debug = true
"#;
        assert_data_eq!(
            laid_over(base),
            str![[r##"
# Ours.
[package]
name = "sample" # a name
autobenches = false

[dependencies]
serde = "1"

[target.'cfg(windows)'.dev-dependencies]

[target."cfg(unix)".dev-dependencies]
libc = { version = "0.2" }

[dev-dependencies]
kept = "1" # for the tests
criterion = { version = "0.8" }
rand = { version = "0.9", features = ["std", "small_rng"], default-features = false }
helper = { path = "../../helper" }

[profile.bench]
debug = true

[[bench]]
name = "parse"
harness = false
required-features = ["fast"]
path = "benches/parse.rs"
edition = "2021"

[[bench]]
name = "found"
path = "benches/found.rs"
edition = "2021"

"##]]
        );
    }

    #[test]
    fn a_manifest_without_benchmarks_gets_them_and_one_target_can_be_taken_out_again() {
        let text = laid_over("[package]\nname = \"sample\"\n");
        let mut manifest = parse(&text);
        remove_bench(&mut manifest, "parse");
        let left = manifest["bench"].as_array_of_tables().unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(left.get(0).unwrap()["name"].as_str(), Some("found"));
    }

    #[test]
    fn features_are_named_or_optional_dependencies() {
        let manifest = parse(
            "[features]\nfast = []\n[dependencies]\nserde = { version = \"1\", optional = true }\nlog = \"0.4\"\n",
        );
        for (feature, there) in [("fast", true), ("serde", true), ("log", false), ("x/y", true)] {
            assert_eq!(has_feature(&manifest, feature), there, "{feature}");
        }
    }
}
