//! Winners in a file.

use super::{Dispatcher, Error, Geometry, Variant};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use std::{
    collections::HashSet,
    fmt, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

/// What winners are measured with: they hold for it alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceKey {
    /// The device's name, as its vendor has it.
    pub device: String,
    /// The driver and its version.
    pub driver: String,
}

impl fmt::Display for DeviceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with {}", self.device, self.driver)
    }
}

/// Winners of dispatchers, by device and driver, that can be kept in a file: JSON, for people too.
///
/// [`Dispatcher::save`] adds to it, and [`Dispatcher::load`] takes from it.
#[derive(Clone, Debug, Default)]
pub struct Winners {
    tables: Vec<Table>,
    /// The file that they were read from.
    path: Option<PathBuf>,
}

/// Of one dispatcher on one device.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    dispatcher: String,
    device: String,
    driver: String,
    variants: Vec<SavedVariant>,
    winners: Vec<Winner>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedVariant {
    name: String,
    code: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Winner {
    geometry: Value,
    variant: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    tables: Vec<Table>,
}

/// What a file says that it is.
const FORMAT: &str = "qd winners";

/// Files of other versions are refused.
const VERSION: u32 = 1;

/// What is looked at before the rest, which may be of another version.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

impl Table {
    fn key(&self) -> DeviceKey {
        DeviceKey {
            device: self.device.clone(),
            driver: self.driver.clone(),
        }
    }

    fn is_of(&self, key: &DeviceKey) -> bool {
        self.device == key.device && self.driver == key.driver
    }
}

impl SavedVariant {
    /// In an order that is theirs.
    fn all(variants: &[Variant]) -> Vec<Self> {
        let saved = variants.iter().map(|one| Self {
            name: one.name.clone(),
            code: one.code.clone(),
        });
        let mut saved: Vec<_> = saved.collect();
        saved.sort();
        saved
    }
}

impl Winners {
    /// Those of a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not of this format and version, or contradicts itself. The
    /// message has the path and, for a syntax error, the line and the column.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let text = fs::read_to_string(path).map_err(|source| failed(path, source))?;
        Self::parse(&text, &path.display().to_string()).map(|read| Self {
            path: Some(path.into()),
            ..read
        })
    }

    /// As [`read`](Self::read), and none if there is no such file.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), but for a missing file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        match Self::read(path) {
            Err(Error::File { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Self::default())
            }
            read => read,
        }
    }

    fn parse(text: &str, from: &str) -> Result<Self, Error> {
        let malformed = |reason: String| Error::Malformed {
            from: from.into(),
            reason,
        };
        let head: Head =
            serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        if head.format != FORMAT {
            let reason = format!("its format is '{}', not '{FORMAT}'", head.format);
            return Err(malformed(reason));
        }
        if head.version != VERSION {
            let reason = format!("its version is {}, not {VERSION}", head.version);
            return Err(malformed(reason));
        }
        let file: File =
            serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        let mut seen = HashSet::new();
        for table in &file.tables {
            let of = format!("'{}' on {}", table.dispatcher, table.key());
            if !seen.insert((&table.dispatcher, table.key())) {
                return Err(malformed(format!("{of} is in it twice")));
            }
            let mut geometries = HashSet::new();
            for Winner { geometry, variant } in &table.winners {
                if !table.variants.iter().any(|one| one.name == *variant) {
                    let reason = format!("{of}: '{variant}' won and is none of its variants");
                    return Err(malformed(reason));
                }
                if !geometries.insert(geometry.to_string()) {
                    return Err(malformed(format!("{of}: {geometry} is in it twice")));
                }
            }
        }
        Ok(Self {
            tables: file.tables,
            path: None,
        })
    }

    /// Writes a file, instead of the one there is, if there is one: other processes see either
    /// that or all of the new one. Two processes that write at a time do not merge their winners.
    ///
    /// # Errors
    ///
    /// The file cannot be written, and is as it was.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), Error> {
        let path = path.as_ref();
        let file = File {
            format: FORMAT.into(),
            version: VERSION,
            tables: self.tables.clone(),
        };
        let text = serde_json::to_string_pretty(&file).map_err(io::Error::from);
        let write = |text: String| {
            let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
            let folder = folder.unwrap_or_else(|| Path::new("."));
            let mut file = tempfile::NamedTempFile::new_in(folder)?;
            writeln!(file, "{text}")?;
            file.persist(path).map_err(|error| error.error)?;
            Ok(())
        };
        text.and_then(write).map_err(|source| failed(path, source))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// Where they are from, for messages.
    fn from(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => "winners".into(),
        }
    }

    /// Those of a dispatcher on a device.
    fn table(&self, dispatcher: &str, key: &DeviceKey) -> Result<&Table, Error> {
        let of_device = self.tables.iter().filter(|table| table.is_of(key));
        let mut of_device = of_device.peekable();
        if of_device.peek().is_none() {
            let mut known: Vec<DeviceKey> = Vec::new();
            for table in &self.tables {
                if !known.contains(&table.key()) {
                    known.push(table.key());
                }
            }
            return Err(Error::OtherDevice {
                from: self.from(),
                wanted: Box::new(key.clone()),
                known,
            });
        }
        let names = of_device.clone().map(|table| table.dispatcher.clone());
        let found = of_device
            .clone()
            .find(|table| table.dispatcher == dispatcher);
        found.ok_or_else(|| Error::OtherDispatcher {
            from: self.from(),
            dispatcher: dispatcher.into(),
            known: names.collect(),
        })
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::File {
        path: path.into(),
        source,
    }
}

impl<G: Geometry + Serialize> Dispatcher<G> {
    /// Adds its winners to those of a device, instead of its earlier ones there.
    ///
    /// # Errors
    ///
    /// A geometry cannot be written as JSON.
    pub fn save(&self, to: &mut Winners, key: &DeviceKey) -> Result<(), Error> {
        let winners = self.winners().into_iter().map(|(geometry, winner)| {
            Ok(Winner {
                geometry: serde_json::to_value(geometry)?,
                variant: self.variants()[winner].name.clone(),
            })
        });
        let winners: Result<Vec<_>, serde_json::Error> = winners.collect();
        let mut winners = winners.map_err(|error| Error::Malformed {
            from: format!("perf_dispatch '{}'", self.name()),
            reason: error.to_string(),
        })?;
        // Equal winners make equal files.
        winners.sort_by_cached_key(|winner| winner.geometry.to_string());
        let is_other = |table: &Table| table.dispatcher != self.name() || !table.is_of(key);
        to.tables.retain(is_other);
        to.tables.push(Table {
            dispatcher: self.name().into(),
            device: key.device.clone(),
            driver: key.driver.clone(),
            variants: SavedVariant::all(self.variants()),
            winners,
        });
        let place = |table: &Table| {
            let Table { dispatcher, .. } = table;
            (
                table.device.clone(),
                table.driver.clone(),
                dispatcher.clone(),
            )
        };
        to.tables.sort_by_cached_key(place);
        Ok(())
    }
}

impl<G: Geometry + DeserializeOwned> Dispatcher<G> {
    /// Takes its winners on a device, as if they had been measured now, and yields how many there
    /// are. The policy has them measured again as any others, unless the dispatcher is
    /// [frozen](Self::freeze). There are none if `from` is empty.
    ///
    /// # Errors
    ///
    /// There are winners of other devices, drivers or dispatchers only, they were measured among
    /// other variants or other code, or a geometry is not of this type. Nothing is taken then.
    pub fn load(&self, from: &Winners, key: &DeviceKey) -> Result<usize, Error> {
        if from.is_empty() {
            return Ok(0);
        }
        let table = from.table(self.name(), key)?;
        self.check_variants(table, &from.from())?;
        let winners = table.winners.iter().map(|winner| {
            let geometry = G::deserialize(&winner.geometry).map_err(|error| Error::Malformed {
                from: from.from(),
                reason: format!(
                    "perf_dispatch '{}': geometry {}: {error}",
                    self.name(),
                    winner.geometry
                ),
            });
            Ok((geometry?, self.variant(&winner.variant)?))
        });
        let winners = winners.collect::<Result<Vec<_>, Error>>()?;
        let count = winners.len();
        self.set_winners(winners);
        Ok(count)
    }

    /// That the variants are those that were measured.
    fn check_variants(&self, table: &Table, from: &str) -> Result<(), Error> {
        let now = SavedVariant::all(self.variants());
        let mut then = table.variants.clone();
        then.sort();
        if now == then {
            return Ok(());
        }
        let names = |all: &[SavedVariant]| {
            let names: Vec<_> = all.iter().map(|one| &*one.name).collect();
            names.join(", ")
        };
        let (is, was) = (names(&now), names(&then));
        let changed = now.iter().zip(&then).find(|(now, then)| now != then);
        let reason = match changed {
            Some((one, _)) if is == was => format!("the code of '{}' has changed", one.name),
            _ => format!("there are {is}, and there were {was}"),
        };
        Err(Error::OtherVariants {
            from: from.into(),
            dispatcher: self.name().into(),
            reason,
        })
    }
}
