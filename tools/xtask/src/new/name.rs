//! One name in every spelling: `fuse-phases`, `fuse_phases`, `FusePhases`, `FUSE_PHASES`.

use anyhow::{Result, bail};

/// A name in words.
pub struct Name {
    /// The parts of a dotted name, each in words.
    parts: Vec<Vec<String>>,
}

impl Name {
    /// Reads lower-case words with hyphens (or underscores) between them.
    pub fn parse(text: &str) -> Result<Self> {
        let name = Self::parse_dotted(text)?;
        if name.parts.len() > 1 {
            bail!("'{text}': a name here has no dots");
        }
        Ok(name)
    }

    /// As `parse`, with dots between names: `block.reduce-all`.
    pub fn parse_dotted(text: &str) -> Result<Self> {
        let is_word = |word: &str| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && word
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        let words = |part: &str| part.split(['-', '_']).map(str::to_owned).collect();
        let parts: Vec<Vec<String>> = text.split('.').map(words).collect();
        if !parts.iter().flatten().all(|word| is_word(word)) {
            bail!("'{text}': a name is lower-case words with hyphens, such as fuse-phases");
        }
        Ok(Self { parts })
    }

    fn words(&self) -> Vec<&str> {
        self.parts.iter().flatten().map(String::as_str).collect()
    }

    /// Of flags and tests.
    pub fn kebab(&self) -> String {
        self.words().join("-")
    }

    /// Of files and modules.
    pub fn snake(&self) -> String {
        self.words().join("_")
    }

    /// Of constants.
    pub fn screaming(&self) -> String {
        self.snake().to_uppercase()
    }

    /// Of types.
    pub fn camel(&self) -> String {
        self.words().into_iter().map(Self::capital).collect()
    }

    /// Of ops: dots stay.
    fn mnemonic(&self) -> String {
        let parts: Vec<String> = self.parts.iter().map(|words| words.join("_")).collect();
        parts.join(".")
    }

    /// A word with a capital.
    pub fn capital(word: &str) -> String {
        let mut characters = word.chars();
        characters.next().map_or_else(String::new, |first| {
            first.to_uppercase().chain(characters).collect()
        })
    }

    /// Puts the name into a template: between braces, or where the template's own code calls it
    /// `the-name`.
    pub fn fill(&self, template: &str) -> String {
        template
            .replace("the-name", &self.kebab())
            .replace("the_name", &self.snake())
            .replace("TheName", &self.camel())
            .replace("THE_NAME", &self.screaming())
            .replace("{kebab}", &self.kebab())
            .replace("{snake}", &self.snake())
            .replace("{Camel}", &self.camel())
            .replace("{SCREAMING}", &self.screaming())
            .replace("{mnemonic}", &self.mnemonic())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_has_many_spellings() {
        let name = Name::parse_dotted("block.scan-x2").unwrap();
        assert_eq!(name.kebab(), "block-scan-x2");
        assert_eq!(name.snake(), "block_scan_x2");
        assert_eq!(name.camel(), "BlockScanX2");
        assert_eq!(name.mnemonic(), "block.scan_x2");
        assert_eq!(name.screaming(), "BLOCK_SCAN_X2");
    }

    #[test]
    fn a_name_is_words() {
        for bad in ["", "-a", "a-", "A", "a b", "a..b", "ä"] {
            assert!(Name::parse_dotted(bad).is_err(), "{bad}");
        }
        assert!(Name::parse("a.b").is_err());
    }
}
