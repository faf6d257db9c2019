//! Where the missing packages come from: which source has them, and which has to be added.

use anyhow::{Result, bail};

use super::Package;

/// The source that is added, if one is.
pub const SOURCE_FILE: &str = "/etc/apt/sources.list.d/qd-bookworm-backports.sources";

/// The release whose backports are used, and their suite.
const RELEASE: &str = "bookworm";
const BACKPORTS: &str = "bookworm-backports";

/// What has to be done, as data: it is carried out, or printed for a person to do.
#[derive(Debug)]
pub struct Plan {
    /// Must be added before the installs.
    pub source: Option<Source>,
    /// One command of apt-get each.
    pub installs: Vec<Vec<String>>,
}

/// A source of packages that no configured one has.
#[derive(Debug, PartialEq)]
pub struct Source {
    /// The mirror.
    pub uri: String,
    /// What it is for.
    pub packages: Vec<&'static str>,
}

impl Source {
    /// Why it is added, for the one whose machine it is.
    pub fn reason(&self) -> String {
        format!(
            "No source of this machine has {} in a version that is new enough; adding {BACKPORTS} in \
             {SOURCE_FILE}",
            self.packages.join(" ")
        )
    }

    /// The file. Nothing comes from backports unless it is asked for: apt gives the suite priority 100.
    pub fn text(&self) -> String {
        format!(
            "Types: deb\nURIs: {}\nSuites: {BACKPORTS}\nComponents: main\n\
             Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n",
            self.uri
        )
    }
}

impl Plan {
    /// Decides where each package comes from.
    ///
    /// `policy` and `madison` are what apt-cache says of the packages, `release` is os-release(5), and
    /// `is_enough` compares versions.
    pub fn new(
        missing: &[Package],
        policy: &str,
        madison: &str,
        release: &str,
        is_enough: impl Fn(Package, &str) -> Result<bool>,
    ) -> Result<Self> {
        let offers: Vec<Offer<'_>> = madison.lines().filter_map(Offer::parse).collect();
        let mut plain = Vec::new();
        // Each with the suite that apt has to be pointed to.
        let mut special: Vec<(&str, &str)> = Vec::new();
        let mut nowhere = Vec::new();
        for &package in missing {
            let candidate = candidate(policy, package.name);
            if package.at_least.is_none()
                || candidate.is_some_and(|version| is_enough(package, version).unwrap_or(false))
            {
                plain.push(package.name);
                continue;
            }
            let mut suite = None;
            for offer in offers.iter().filter(|offer| offer.package == package.name) {
                if suite.is_none() && is_enough(package, offer.version)? {
                    suite = Some(offer.suite);
                }
            }
            match suite {
                Some(suite) => special.push((suite, package.name)),
                None => nowhere.push(package),
            }
        }
        let source = if nowhere.is_empty() {
            None
        } else if codename(release) == Some(RELEASE) {
            special.extend(nowhere.iter().map(|package| (BACKPORTS, package.name)));
            Some(Source {
                uri: mirror(&offers),
                packages: nowhere.iter().map(|package| package.name).collect(),
            })
        } else {
            bail!(
                "no configured source of packages offers {}, and this is not Debian 12, whose \
                 backports have it: install it by hand, or add a source that has it",
                super::list(&nowhere)
            );
        };
        let mut installs = Vec::new();
        if !plain.is_empty() {
            installs.push(apt_get_install(None, &plain));
        }
        for (suite, package) in special {
            installs.push(apt_get_install(Some(suite), &[package]));
        }
        Ok(Self { source, installs })
    }

    /// The plan, as one would type it.
    pub fn commands(&self) -> String {
        let mut text = String::new();
        if let Some(source) = &self.source {
            text += &format!(
                "  printf '{}' | sudo tee {SOURCE_FILE}\n  sudo apt-get update\n",
                source.text().replace('\n', "\\n")
            );
        }
        for words in &self.installs {
            text += &format!("  sudo {}\n", words.join(" "));
        }
        text
    }
}

fn apt_get_install(suite: Option<&str>, packages: &[&str]) -> Vec<String> {
    let mut words = vec!["apt-get", "install"];
    if let Some(suite) = suite {
        words.extend(["-t", suite]);
    }
    words.extend(packages);
    words.into_iter().map(str::to_owned).collect()
}

/// A version of a package that a source has.
struct Offer<'a> {
    package: &'a str,
    version: &'a str,
    uri: &'a str,
    suite: &'a str,
}

impl<'a> Offer<'a> {
    /// A line of `apt-cache madison`, as in
    /// `mesa-vulkan-drivers | 22.3.6-1 | http://deb.debian.org/debian bookworm/main amd64 Packages`.
    fn parse(line: &'a str) -> Option<Self> {
        let mut columns = line.split('|').map(str::trim);
        let (package, version) = (columns.next()?, columns.next()?);
        // The other kind is the sources of a package.
        let mut words = columns.next()?.strip_suffix(" Packages")?.split(' ');
        let (uri, place) = (words.next()?, words.next()?);
        let (suite, _) = place.split_once('/')?;
        Some(Self {
            package,
            version,
            uri,
            suite,
        })
    }
}

/// The mirror that this machine gets its release from.
fn mirror(offers: &[Offer<'_>]) -> String {
    offers
        .iter()
        .find(|offer| offer.suite == RELEASE)
        .map_or("http://deb.debian.org/debian", |offer| offer.uri)
        .to_owned()
}

/// The version that apt would install by itself: the line below the package's name in what `apt-cache
/// policy` says.
fn candidate<'a>(policy: &'a str, package: &str) -> Option<&'a str> {
    policy
        .lines()
        .skip_while(|line| line.strip_suffix(':') != Some(package))
        .skip(1)
        .take_while(|line| line.starts_with(' '))
        .find_map(|line| line.trim_start().strip_prefix("Candidate: "))
}

fn codename(release: &str) -> Option<&str> {
    release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
}

#[cfg(test)]
mod tests {
    use super::super::{BUILD, VULKAN, apt};
    use super::*;

    const DEBIAN_12: &str = "NAME=\"Debian GNU/Linux\"\nVERSION_CODENAME=bookworm\nID=debian\n";
    const OF_RELEASE: &str = "mesa-vulkan-drivers | 22.3.6-1+deb12u2 | http://mirror/debian bookworm/main amd64 Packages\n";
    const OF_BACKPORTS: &str = "mesa-vulkan-drivers | 25.0.7-2~bpo12+1 | http://mirror/debian bookworm-backports/main amd64 Packages\n";

    fn policy(version: &str) -> String {
        format!(
            "libvulkan1:\n  Installed: (none)\n  Candidate: 1.3.239.0-1\n\
             mesa-vulkan-drivers:\n  Installed: (none)\n  Candidate: {version}\n  Version table:\n"
        )
    }

    fn planned(policy: &str, madison: &str, release: &str) -> Result<Plan> {
        Plan::new(VULKAN, policy, madison, release, apt::is_enough)
    }

    #[test]
    fn a_release_that_is_new_enough_needs_one_command() {
        let plan = planned(&policy("26.0.1-1"), "", "").unwrap();
        assert_eq!(plan.source, None);
        assert_eq!(
            plan.commands(),
            "  sudo apt-get install libvulkan1 spirv-tools vulkan-validationlayers mesa-vulkan-drivers\n"
        );
    }

    #[test]
    fn configured_backports_are_used_as_they_are() {
        let madison = format!("{OF_BACKPORTS}{OF_RELEASE}");
        let plan = planned(&policy("22.3.6-1+deb12u2"), &madison, DEBIAN_12).unwrap();
        assert_eq!(plan.source, None);
        assert_eq!(
            plan.commands(),
            "  sudo apt-get install libvulkan1 spirv-tools vulkan-validationlayers\n  \
             sudo apt-get install -t bookworm-backports mesa-vulkan-drivers\n"
        );
    }

    #[test]
    fn backports_are_added_from_the_mirror_at_hand() {
        let plan = planned(&policy("22.3.6-1+deb12u2"), OF_RELEASE, DEBIAN_12).unwrap();
        assert_eq!(plan.source.as_ref().unwrap().uri, "http://mirror/debian");
        assert_eq!(
            plan.commands(),
            "  printf 'Types: deb\\nURIs: http://mirror/debian\\nSuites: bookworm-backports\\nComponents: main\\n\
             Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\\n' | sudo tee \
             /etc/apt/sources.list.d/qd-bookworm-backports.sources\n  sudo apt-get update\n  \
             sudo apt-get install libvulkan1 spirv-tools vulkan-validationlayers\n  \
             sudo apt-get install -t bookworm-backports mesa-vulkan-drivers\n"
        );
    }

    #[test]
    fn sources_of_a_package_are_no_offer() {
        let madison = OF_BACKPORTS.replace("amd64 Packages", "Sources");
        let plan = planned(&policy("22.3.6-1+deb12u2"), &madison, DEBIAN_12).unwrap();
        assert_eq!(plan.source.unwrap().uri, "http://deb.debian.org/debian");
    }

    #[test]
    fn backports_of_one_release_are_not_added_to_another() {
        let release = "VERSION_CODENAME=bullseye\n";
        let error = planned(&policy("20.3.5-1"), "", release).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("mesa-vulkan-drivers (25.0.7 or newer)"),
            "{text}"
        );
    }

    #[test]
    fn any_version_of_other_packages_will_do() {
        let plan = Plan::new(&BUILD[..2], "", "", "", apt::is_enough).unwrap();
        assert_eq!(
            plan.commands(),
            "  sudo apt-get install llvm-22-dev libmlir-22-dev\n"
        );
    }
}
