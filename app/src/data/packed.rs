//! Answers that are read later than they come.

use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::DataError;

/// A list as JSON text. What reads it is in the part of the page that shows it, not in what every look at the page
/// has to load.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Packed<T> {
    text: String,
    #[serde(skip)]
    of: PhantomData<fn() -> T>,
}

impl<T> Packed<T> {
    /// Takes an answer as it came.
    pub const fn new(text: String) -> Self {
        Self {
            text,
            of: PhantomData,
        }
    }

    /// Whether there is nothing in the list.
    pub fn is_empty(&self) -> bool {
        matches!(self.text.trim(), "" | "[]")
    }
}

impl<T: Serialize> Packed<T> {
    /// Writes a list.
    ///
    /// # Errors
    /// When a value has no JSON.
    pub fn of(values: &[T]) -> Result<Self, DataError> {
        let text = serde_json::to_string(values).map_err(|error| DataError::text(500, error.to_string()))?;
        Ok(Self::new(text))
    }
}

impl<T: DeserializeOwned> Packed<T> {
    /// Reads the list.
    ///
    /// # Errors
    /// When it is of another version of the app.
    pub fn open(&self) -> Result<Vec<T>, DataError> {
        serde_json::from_str(&self.text)
            .map_err(|error| DataError::text(0, format!("The app's answer could not be read: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::Packed;

    #[test]
    fn a_list_comes_back_as_it_was() {
        let packed = Packed::of(&[1_u32, 2]).unwrap();
        assert_eq!(packed.open().unwrap(), [1, 2]);
        assert!(!packed.is_empty());
        let none = Packed::<u32>::of(&[]).unwrap();
        assert!(none.is_empty() && none.open().unwrap().is_empty());
        let error = Packed::<u32>::new("[1,".into()).open().unwrap_err();
        assert!(error.to_string().contains("could not be read"), "{error}");
    }
}
