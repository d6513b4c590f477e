//! Lays the benchmarks of one revision over another's worktree.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package};
use fs_err as fs;
use toml_edit::DocumentMut;

use crate::system::{Error, Result, normalize};

use super::super::{FailedTarget, Workspace};
use super::manifest::{
    BUILD_DEPENDENCIES, BenchTarget, DEPENDENCIES, DEV_DEPENDENCIES, Dependency, Kind,
};
use super::paths::from_to;

/// The benchmarks of one side.
pub struct Overlay {
    checkout: PathBuf,
    /// The workspace's directory and manifest.
    root: PathBuf,
    root_manifest: DocumentMut,
    packages: Vec<BenchPackage>,
}

/// The benchmarks of one package.
struct BenchPackage {
    name: String,
    directory: PathBuf,
    manifest: DocumentMut,
    targets: Vec<BenchTarget>,
    dependencies: Vec<Dependency>,
    /// Whether it measures other packages and is nothing else.
    only_measures: bool,
    /// Whether cargo takes it if no package is named.
    by_default: bool,
}

/// What was laid over a side.
#[derive(Debug, Default)]
pub struct Laid {
    /// The manifests of the packages that have bench targets from elsewhere now.
    pub manifests: Vec<PathBuf>,
    /// The packages on which their benchmarks depend, other than by path.
    pub dev_dependencies: Vec<String>,
    /// Bench targets that the side cannot have.
    pub failed: Vec<FailedTarget>,
}

impl Overlay {
    /// Reads what bench targets a side has.
    pub fn read(workspace: &Workspace) -> Result<Self> {
        let root_manifest = read_manifest(&workspace.root.join("Cargo.toml"))?;
        let (metadata, root) = (&workspace.metadata, &workspace.root);
        let default_members = &metadata.workspace_default_members;
        let packages = members(metadata)
            .map(|package| {
                let manifest = read_manifest(package.manifest_path.as_std_path())?;
                let directory = directory_of(package);
                let kind = DEV_DEPENDENCIES;
                let dependencies = super::manifest::dependencies(
                    kind,
                    &manifest,
                    &directory,
                    &root_manifest,
                    root,
                );
                let targets = bench_targets(package, &directory);
                Ok(BenchPackage {
                    name: package.name.to_string(),
                    directory,
                    manifest,
                    targets,
                    dependencies,
                    only_measures: super::whole::only_measures(package),
                    by_default: default_members.is_available()
                        && default_members.contains(&package.id),
                })
            })
            .collect::<Result<_>>()?;
        let (checkout, root) = (workspace.checkout.clone(), root.clone());
        Ok(Self { checkout, root, root_manifest, packages })
    }

    /// Lays them over another side.
    pub fn lay_over(&self, workspace: &Workspace) -> Result<Laid> {
        let mut laid = Laid::default();
        for package in &self.packages {
            let here = members(&workspace.metadata).find(|here| *here.name == *package.name);
            if let Some(here) = here {
                self.lay_package(package, &directory_of(here), workspace, &mut laid)?;
            } else if package.only_measures {
                self.lay_whole(package, workspace, &mut laid)?;
            }
        }
        laid.dev_dependencies.sort();
        laid.dev_dependencies.dedup();
        Ok(laid)
    }

    /// Lays a package over that the side has not got.
    fn lay_whole(
        &self,
        package: &BenchPackage,
        workspace: &Workspace,
        laid: &mut Laid,
    ) -> Result<()> {
        let place = self.place_in(workspace, &package.directory);
        let path = place.join("Cargo.toml");
        if path.exists() {
            return Ok(());
        }
        super::files::lay_over(&package.directory, &place)?;
        let mut document = package.manifest.clone();
        super::whole::end_inheritance(&mut document, &self.root_manifest);
        for kind in [DEPENDENCIES, BUILD_DEPENDENCIES] {
            let (manifest, from) = (&package.manifest, &package.directory);
            let dependencies = super::manifest::dependencies(
                kind,
                manifest,
                from,
                &self.root_manifest,
                &self.root,
            );
            self.add_dependencies(kind, dependencies, (&mut document, &place), workspace, laid)?;
        }
        fs::write(&path, document.to_string())?;
        self.lay_package(package, &place, workspace, laid)?;
        let path = workspace.root.join("Cargo.toml");
        let mut document = read_manifest(&path)?;
        super::whole::add_member(&mut document, &workspace.root, &place, package.by_default);
        Ok(fs::write(path, document.to_string())?)
    }

    fn lay_package(
        &self,
        package: &BenchPackage,
        directory: &Path,
        workspace: &Workspace,
        laid: &mut Laid,
    ) -> Result<()> {
        let path = directory.join("Cargo.toml");
        let mut document = read_manifest(&path)?;
        let mut targets = Vec::new();
        for target in &package.targets {
            let lacks = |feature: &&String| !super::manifest::has_feature(&document, feature);
            match target.required_features.iter().find(lacks) {
                None => targets.push(target.clone()),
                Some(feature) => laid.failed.push(FailedTarget {
                    package: package.name.clone(),
                    target: target.name.clone(),
                    reason: format!("it needs the feature `{feature}`, which there is not here"),
                }),
            }
        }
        self.lay_files(package, directory, workspace)?;
        for target in &mut targets {
            // A source outside its package lies at the same place of the checkout.
            if target.source.starts_with("..") {
                let source = self.place_in(workspace, &package.directory.join(&target.source));
                target.source = from_to(directory, &source);
            }
        }
        let tables = super::manifest::bench_tables(&package.manifest, &targets);
        super::manifest::replace_benches(&mut document, tables);
        let (kind, dependencies) = (DEV_DEPENDENCIES, package.dependencies.clone());
        self.add_dependencies(kind, dependencies, (&mut document, directory), workspace, laid)?;
        fs::write(&path, document.to_string())?;
        laid.manifests.push(path);
        Ok(())
    }

    /// Adds dependencies to a manifest in a directory of the other side.
    fn add_dependencies(
        &self,
        kind: Kind,
        mut dependencies: Vec<Dependency>,
        (document, directory): (&mut DocumentMut, &Path),
        workspace: &Workspace,
        laid: &mut Laid,
    ) -> Result<()> {
        for dependency in &mut dependencies {
            match &dependency.directory {
                Some(there) => {
                    let there = there.clone();
                    dependency.directory =
                        Some(self.lay_path_dependency(dependency.package(), &there, workspace)?);
                }
                None => laid.dev_dependencies.push(dependency.package().to_owned()),
            }
        }
        super::manifest::add_dependencies(kind, document, directory, &dependencies);
        Ok(())
    }

    fn lay_files(
        &self,
        package: &BenchPackage,
        directory: &Path,
        workspace: &Workspace,
    ) -> Result<()> {
        let sources: Vec<PathBuf> = package.targets.iter().map(|t| t.source.clone()).collect();
        let places = super::files::bench_places(&package.directory, &sources);
        for place in &places {
            let from = normalize(&package.directory.join(place));
            if place == Path::new(super::files::BENCHES) {
                super::files::replace(&from, &directory.join(place))?;
            } else if place.starts_with("..") {
                super::files::lay_over(&from, &self.place_in(workspace, &from))?;
            } else {
                super::files::lay_over(&from, &directory.join(place))?;
            }
        }
        let absolute: Vec<PathBuf> =
            places.iter().map(|place| normalize(&package.directory.join(place))).collect();
        for place in super::files::named_places(&self.checkout, &package.directory, &absolute) {
            let to = match place.strip_prefix(&package.directory) {
                Ok(relative) => directory.join(relative),
                Err(_) => self.place_in(workspace, &place),
            };
            super::files::lay_over(&place, &to)?;
        }
        Ok(())
    }

    /// Where a path dependency lies on the other side. One that it has not got is laid over, with the packages on
    /// which that depends.
    fn lay_path_dependency(
        &self,
        name: &str,
        there: &Path,
        workspace: &Workspace,
    ) -> Result<PathBuf> {
        if let Some(own) = members(&workspace.metadata).find(|package| *package.name == *name) {
            return Ok(directory_of(own));
        }
        let place = self.place_in(workspace, there);
        let mut left = vec![(there.to_owned(), place.clone())];
        while let Some((from, to)) = left.pop() {
            let is_from_the_checkout = from.starts_with(&self.checkout);
            if to.join("Cargo.toml").exists() || !is_from_the_checkout || !from.is_dir() {
                continue;
            }
            super::files::lay_over(&from, &to)?;
            let document = read_manifest(&from.join("Cargo.toml"))?;
            for path in paths_of_dependencies(&document) {
                let from = normalize(&from.join(path));
                left.push((from.clone(), self.place_in(workspace, &from)));
            }
        }
        Ok(place)
    }

    /// The same place in another side's checkout.
    fn place_in(&self, workspace: &Workspace, place: &Path) -> PathBuf {
        normalize(&workspace.checkout.join(from_to(&self.checkout, &normalize(place))))
    }
}

/// Takes a bench target that was laid over a package out again.
pub fn remove_target(manifest: &Path, target: &str) -> Result<()> {
    let mut document = read_manifest(manifest)?;
    super::manifest::remove_bench(&mut document, target);
    Ok(fs::write(manifest, document.to_string())?)
}

fn paths_of_dependencies(document: &DocumentMut) -> Vec<String> {
    let lists = ["dependencies", "build-dependencies"].iter().filter_map(|list| document.get(list));
    let all = lists.filter_map(|list| list.as_table_like()).flat_map(|list| list.iter());
    all.filter_map(|(_, item)| Some(item.get("path")?.as_str()?.to_owned())).collect()
}

fn members(metadata: &Metadata) -> impl Iterator<Item = &Package> {
    metadata.packages.iter().filter(|package| metadata.workspace_members.contains(&package.id))
}

fn directory_of(package: &Package) -> PathBuf {
    let manifest = package.manifest_path.as_std_path();
    manifest.parent().unwrap_or(manifest).to_owned()
}

fn bench_targets(package: &Package, directory: &Path) -> Vec<BenchTarget> {
    let benches = package.targets.iter().filter(|target| target.is_bench());
    benches
        .map(|target| BenchTarget {
            name: target.name.clone(),
            source: from_to(directory, &normalize(target.src_path.as_std_path())),
            edition: target.edition.to_string(),
            required_features: target.required_features.clone(),
        })
        .collect()
}

fn read_manifest(path: &Path) -> Result<DocumentMut> {
    fs::read_to_string(path)?.parse().map_err(|error| {
        Error::comparison(format!("cannot read the manifest {}", path.display())).because(error)
    })
}
