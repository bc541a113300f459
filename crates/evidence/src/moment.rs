//! Moments as records write them: RFC 3339 in UTC, with milliseconds.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// 9999-12-31T23:59:59.999Z, the last moment that the form can write.
const LAST_MS: u128 = 253_402_300_799_999;

/// A moment before 1970 or after 9999 is written as the nearest one between.
pub(crate) fn render(moment: SystemTime) -> String {
    let since = moment.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let ms = u64::try_from(since.as_millis().min(LAST_MS)).unwrap_or_default();
    let (s, ms) = (ms / 1000, ms % 1000);
    let (year, month, day) = date(s / 86_400);
    let (hour, minute, second) = (s / 3600 % 24, s / 60 % 60, s % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Year, month and day of a day since 1970-01-01, in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that a leap day is the last; an era is 400 of them.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Whether a text is in the form; not whether there is such a day.
pub(crate) fn is_moment(text: &str) -> bool {
    let form = b"0000-00-00T00:00:00.000Z";
    text.len() == form.len()
        && text.bytes().zip(form).all(|(byte, &form)| match form {
            b'0' => byte.is_ascii_digit(),
            _ => byte == form,
        })
}

/// The moment that a text in the form writes; `None` where there is no such day or time.
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    if !is_moment(text) {
        return None;
    }
    let number = |from: usize, to: usize| text[from..to].parse::<u64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let s = (number(11, 13)? * 60 + number(14, 16)?) * 60 + number(17, 19)?;
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, year_of_era) = (year / 400, year % 400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day.checked_sub(1)?;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
    let ms = (days * 86_400 + s) * 1000 + number(20, 23)?;
    let moment = UNIX_EPOCH + Duration::from_millis(ms);
    // A day or a time that is none gives another text.
    (render(moment) == text).then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_in_the_form() {
        for (s, text) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (951_868_800, "2000-03-01T00:00:00.007Z"),
            (1_709_251_199, "2024-02-29T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
            (253_402_300_799, "9999-12-31T23:59:59.007Z"),
        ] {
            let moment = UNIX_EPOCH + Duration::from_secs(s) + Duration::from_millis(7);
            assert_eq!(render(moment), text);
            assert!(is_moment(text));
            assert_eq!(parse(text), Some(moment));
        }
    }

    #[test]
    fn no_such_day_is_no_moment() {
        for text in [
            "2023-02-29T00:00:00.000Z",
            "2024-13-01T00:00:00.000Z",
            "2024-00-01T00:00:00.000Z",
            "2024-01-00T00:00:00.000Z",
            "2024-01-01T24:00:00.000Z",
            "1969-12-31T23:59:59.999Z",
        ] {
            assert!(is_moment(text));
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_wrong_clock_gives_the_nearest_moment() {
        let before = UNIX_EPOCH - Duration::from_secs(1);
        let after = UNIX_EPOCH + Duration::from_secs(253_402_300_800);
        assert_eq!(render(before), "1970-01-01T00:00:00.000Z");
        assert_eq!(render(after), "9999-12-31T23:59:59.999Z");
    }

    #[test]
    fn other_forms_are_none() {
        for text in
            ["", "2024-02-29T23:59:59Z", "2024-02-29 23:59:59.007Z", "2024-02-29T23:59:59.0O7Z"]
        {
            assert!(!is_moment(text), "{text}");
        }
    }
}
