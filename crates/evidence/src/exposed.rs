//! Secret keys that lie open.

use crate::identity::Recipient;

/// What the text of a secret key begins with.
const SECRET: &[u8] = b"AGE-SECRET-KEY-1";

/// Characters of one.
const SECRET_CHARS: usize = 74;

/// The public halves of the X25519 secret keys that stand unprotected in a text. Of the keys
/// themselves nothing is given.
///
/// ```
/// use noesc_evidence::exposed;
/// assert!(exposed(b"age-encryption.org/v1\n-> scrypt").is_empty());
/// ```
#[must_use]
pub fn exposed(text: &[u8]) -> Vec<Recipient> {
    let mut found: Vec<Recipient> = Vec::new();
    let starts = text.windows(SECRET.len()).enumerate().filter(|(_, part)| *part == SECRET);
    for (at, _) in starts {
        let Some(secret) = text.get(at..at + SECRET_CHARS) else { continue };
        let secret = str::from_utf8(secret).ok().and_then(|text| text.parse().ok());
        let public = secret.map(|secret: age::x25519::Identity| secret.to_public().to_string());
        let recipient = public.and_then(|public| public.parse().ok());
        found.extend(recipient.filter(|recipient| !found.contains(recipient)));
    }
    found
}

#[cfg(test)]
mod tests {
    use age::secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_secret_key_is_found_wherever_it_stands() {
        let key = age::x25519::Identity::generate();
        let (secret, public) = (key.to_string(), key.to_public().to_string());
        let secret = secret.expose_secret();
        for text in [
            format!("# public key: {public}\n{secret}\n"),
            format!("KEY={secret}"),
            format!("AGE-SECRET-KEY-1AGE-SECRET-KEY-1\n{secret} {secret}"),
        ] {
            let found: Vec<String> =
                exposed(text.as_bytes()).iter().map(|r| r.to_string()).collect();
            assert_eq!(found.join(" "), public);
        }
        assert!(exposed(&secret.as_bytes()[..73]).is_empty());
        assert!(exposed(secret.replace('Q', "P").as_bytes()).is_empty() || !secret.contains('Q'));
    }
}
