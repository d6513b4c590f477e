//! A package that does nothing but measure others, made a member of a workspace that has not got it. Pure: texts in,
//! texts out.

use std::path::Path;

use cargo_metadata::{Package, TargetKind};
use toml_edit::{Array, DocumentMut, Item, Table, Value, value};

use super::paths::{from_to, slashes};

/// Whether all that a package has are benchmarks, or what goes with them. One with a library or a program is itself
/// something to be measured, and that stays each revision's own.
pub fn only_measures(package: &Package) -> bool {
    let belongs = |kind: &TargetKind| {
        matches!(
            kind,
            TargetKind::Bench | TargetKind::Test | TargetKind::Example | TargetKind::CustomBuild
        )
    };
    package.targets.iter().any(cargo_metadata::Target::is_bench)
        && package.targets.iter().flat_map(|target| &target.kind).all(belongs)
}

/// Puts what the manifest's `[package]` inherits from the workspace in its place. Dependencies are left as they are.
pub fn end_inheritance(manifest: &mut DocumentMut, workspace: &DocumentMut) {
    let shared = workspace.get("workspace").and_then(|workspace| workspace.get("package"));
    let Some(package) = manifest.get_mut("package").and_then(Item::as_table_like_mut) else {
        return;
    };
    let is_inherited = |item: &Item| item.get("workspace").and_then(Item::as_bool) == Some(true);
    let inherited = package.iter().filter(|(_, item)| is_inherited(item));
    let inherited: Vec<String> = inherited.map(|(key, _)| key.to_owned()).collect();
    for key in inherited {
        // Files of the workspace's that nothing is built from.
        let is_needed = !["readme", "license-file"].contains(&key.as_str());
        match shared.and_then(|shared| shared.get(&key)).filter(|_| is_needed) {
            Some(item) => _ = package.insert(&key, item.clone()),
            None => _ = package.remove(&key),
        }
    }
    manifest.remove("lints");
}

/// Makes the package in a directory a member of the workspace with this manifest, which lies in `root`. With
/// `by_default`, it is also one of those that cargo takes if none is named.
pub fn add_member(manifest: &mut DocumentMut, root: &Path, directory: &Path, by_default: bool) {
    let has_root_package = manifest.contains_key("package");
    let workspace = manifest.entry("workspace").or_insert_with(|| Item::Table(Table::new()));
    let Some(workspace) = workspace.as_table_like_mut() else { return };
    let member = slashes(&from_to(root, directory));
    let are_chosen = workspace.contains_key("default-members");
    let mut add = |key: &str, before: &[&str]| {
        let list = workspace
            .entry(key)
            .or_insert_with(|| value(before.iter().copied().collect::<Array>()));
        if let Some(list) = list.as_value_mut().and_then(Value::as_array_mut) {
            list.push(member.as_str());
        }
    };
    add("members", &[]);
    // Where nothing is said, cargo takes the root package, or all packages if there is none.
    if by_default && has_root_package {
        add("default-members", &["."]);
    } else if by_default && are_chosen {
        add("default-members", &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snapbox::{assert_data_eq, str};

    #[test]
    fn what_a_package_inherits_stands_in_its_own_manifest() {
        let workspace = r#"
[workspace.package]
version = "1.2.3"
edition = "2021"
readme = "README.md"
"#;
        let manifest = r#"
[package]
name = "measures"
version.workspace = true
edition = { workspace = true }
readme.workspace = true
rust-version.workspace = true
publish = false

[lints]
workspace = true

[dependencies]
sample.workspace = true
"#;
        let mut manifest: DocumentMut = manifest.parse().unwrap();
        end_inheritance(&mut manifest, &workspace.parse().unwrap());
        assert_data_eq!(
            manifest.to_string(),
            str![[r#"

[package]
name = "measures"
version = "1.2.3"
edition = "2021"
publish = false

[dependencies]
sample.workspace = true

"#]]
        );
    }

    #[test]
    fn a_workspace_gets_a_member_and_one_that_was_none_becomes_one() {
        let with_member = |text: &str, by_default| {
            let mut manifest: DocumentMut = text.parse().unwrap();
            add_member(&mut manifest, Path::new("/w"), Path::new("/w/benches"), by_default);
            let workspace = &manifest["workspace"];
            let list = |key| workspace.get(key).map(|list| list.to_string().trim().to_owned());
            (list("members").unwrap(), list("default-members"))
        };
        let list = |text: &str| text.to_owned();
        let package = "[package]\nname = \"a\"\n";
        assert_eq!(with_member(package, false), (list(r#"["benches"]"#), None));
        let both = (list(r#"["benches"]"#), Some(list(r#"[".", "benches"]"#)));
        assert_eq!(with_member(package, true), both);
        let workspace = "[workspace]\nmembers = [\"a\"]\n";
        assert_eq!(with_member(workspace, true), (list(r#"["a", "benches"]"#), None));
        let chosen = format!("{workspace}default-members = [\"a\"]\n");
        let both = (list(r#"["a", "benches"]"#), Some(list(r#"["a", "benches"]"#)));
        assert_eq!(with_member(&chosen, true), both);
        assert_eq!(with_member(&chosen, false).1, Some(list(r#"["a"]"#)));
    }
}
