//! What the bytes of a stretch are, 64 to a word: bit n of a word is byte n of its block.

/// Bytes of a block.
pub(crate) const BLOCK: usize = 64;

/// Blocks of a stretch.
pub(crate) const BLOCKS: usize = 64;

/// One word of 64 bytes for each block of a stretch.
pub(crate) type Words = [u64; BLOCKS];

/// What was found of the bytes of a stretch. Each byte up to `len` is text, or a CR, or part of a
/// control sequence, whose last byte is in `ends`, or in `aborts`.
#[derive(Clone, Debug)]
pub(crate) struct Masks {
    /// Bytes that are kept.
    pub(crate) text: Words,
    /// The last byte of each complete sequence.
    pub(crate) ends: Words,
    /// Of these, the ones of EL, `CSI … K`.
    pub(crate) erases: Words,
    /// The ones of sequences that are neither EL nor style which hides nothing.
    pub(crate) odd: Words,
    /// The last byte of each sequence that an ESC or a byte from 80 on cut short; of these, the
    /// ones that are an ESC alone.
    pub(crate) aborts: Words,
    pub(crate) aborted_escapes: Words,
    /// CRs outside of sequences.
    pub(crate) crs: Words,
    /// The first bytes of characters in the text that are to be judged.
    pub(crate) special: Words,
    /// Whether any bit of `odd`, of `aborts`, of `crs`, and of `special` is set.
    pub(crate) any_odd: bool,
    pub(crate) any_abort: bool,
    pub(crate) any_cr: bool,
    pub(crate) any_special: bool,
    /// Bytes found; nothing is set beyond.
    pub(crate) len: usize,
}

impl Masks {
    pub(crate) const NONE: Self = Self {
        text: [0; BLOCKS],
        ends: [0; BLOCKS],
        erases: [0; BLOCKS],
        odd: [0; BLOCKS],
        aborts: [0; BLOCKS],
        aborted_escapes: [0; BLOCKS],
        crs: [0; BLOCKS],
        special: [0; BLOCKS],
        any_odd: false,
        any_abort: false,
        any_cr: false,
        any_special: false,
        len: 0,
    };

    /// Ends the stretch at a byte, at or before its end.
    #[inline]
    pub(crate) fn cut(&mut self, len: usize) {
        for block in len / BLOCK..self.len.div_ceil(BLOCK) {
            let kept = if block == len / BLOCK { below(len % BLOCK) } else { 0 };
            self.text[block] &= kept;
            self.ends[block] &= kept;
            self.erases[block] &= kept;
            self.odd[block] &= kept;
            self.aborts[block] &= kept;
            self.aborted_escapes[block] &= kept;
            self.crs[block] &= kept;
            self.special[block] &= kept;
        }
        self.len = len;
    }
}

/// The bits below bit `n`, which is at most 63.
#[inline(always)]
pub(crate) const fn below(n: usize) -> u64 {
    (1 << n) - 1
}

/// How many bits are set from `from` to before `to`.
pub(crate) fn count(words: &Words, from: usize, to: usize) -> u32 {
    let mut n = 0;
    for (block, word) in words.iter().enumerate().take(to.div_ceil(BLOCK)).skip(from / BLOCK) {
        let head = if block == from / BLOCK { !below(from % BLOCK) } else { !0 };
        let tail = if block == to / BLOCK { below(to % BLOCK) } else { !0 };
        n += (word & head & tail).count_ones();
    }
    n
}

/// Whether a bit is set.
#[inline(always)]
pub(crate) fn is_set(words: &Words, at: usize) -> bool {
    words[at / BLOCK] >> (at % BLOCK) & 1 == 1
}

/// Sets a bit.
#[inline(always)]
pub(crate) fn set(words: &mut Words, at: usize) {
    words[at / BLOCK] |= 1 << (at % BLOCK);
}

/// Sets the bits from `from` to before `to`.
#[inline]
pub(crate) fn set_run(words: &mut Words, from: usize, to: usize) {
    if from == to {
        return;
    }
    let last = to - 1;
    let (head, tail) = (!below(from % BLOCK), !0 >> (BLOCK - 1 - last % BLOCK));
    if from / BLOCK == last / BLOCK {
        words[from / BLOCK] |= head & tail;
        return;
    }
    words[from / BLOCK] |= head;
    words[from / BLOCK + 1..last / BLOCK].fill(!0);
    words[last / BLOCK] |= tail;
}

/// The first clear bit from `from` on.
pub(crate) fn next_clear(words: &Words, from: usize) -> usize {
    let mut block = from / BLOCK;
    let mut clear = words.get(block).map_or(!0, |word| !word & !below(from % BLOCK));
    while clear == 0 {
        block += 1;
        if block == BLOCKS {
            return BLOCK * BLOCKS;
        }
        clear = !words[block];
    }
    block * BLOCK + clear.trailing_zeros() as usize
}

/// How many bits are set directly before `to`; 64 for more.
pub(crate) fn run_before(words: &Words, to: usize) -> usize {
    let to = to.min(BLOCK * BLOCKS);
    let (block, bit) = (to / BLOCK, to % BLOCK);
    let before = block.checked_sub(1).map_or(0, |before| words[before]);
    let run = match bit {
        0 => before,
        _ => words[block] << (BLOCK - bit) | before >> bit,
    };
    run.leading_ones() as usize
}

/// The first set bit from `from` on.
pub(crate) fn next(words: &Words, from: usize) -> Option<usize> {
    let mut block = from / BLOCK;
    let mut word = *words.get(block)? & !below(from % BLOCK);
    while word == 0 {
        block += 1;
        word = *words.get(block)?;
    }
    Some(block * BLOCK + word.trailing_zeros() as usize)
}

/// The last set bit before `to`.
pub(crate) fn last(words: &Words, to: usize) -> Option<usize> {
    let mut block = (to / BLOCK).min(BLOCKS);
    let mut word = words.get(block).map_or(0, |word| word & below(to % BLOCK));
    while word == 0 {
        block = block.checked_sub(1)?;
        word = words[block];
    }
    Some(block * BLOCK + 63 - word.leading_zeros() as usize)
}

/// What vector code compares in a block: which of its bytes are what.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    /// Not 20–7E, TAB or LF.
    pub(crate) stops: u64,
    /// 80–FF.
    pub(crate) high: u64,
    pub(crate) esc: u64,
    pub(crate) cr: u64,
    pub(crate) bracket: u64,
    /// 30–3F, and the ones of `< = > ?` among them.
    pub(crate) parameter: u64,
    pub(crate) private: u64,
    /// 40–7E, and `m` and `K` among them.
    pub(crate) fin: u64,
    pub(crate) m: u64,
    pub(crate) k: u64,
    /// `;` and `:`, the digits 0 and 1, and 4 and 8.
    pub(crate) separator: u64,
    pub(crate) zero: u64,
    pub(crate) one: u64,
    pub(crate) four_eight: u64,
}

/// Notes the sequences that are cut short before these bytes, in the byte before each.
#[inline(never)]
fn abort(masks: &mut Masks, block: usize, cut: u64, others: u64) {
    masks.any_abort = true;
    masks.aborts[block] |= cut >> 1;
    masks.aborted_escapes[block] |= (cut & others) >> 1;
    if cut & 1 != 0
        && let Some(before) = block.checked_sub(1)
    {
        masks.aborts[before] |= 1 << 63;
        masks.aborted_escapes[before] |= (others & 1) << 63;
    }
}

/// What one block leaves to the next one: each a bit, for its first byte.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carry {
    /// The byte before is an ESC.
    esc: u64,
    /// A sequence is open and this may be its parameter.
    csi: u64,
    /// A parameter begins here; here after one zero; a 1 at its beginning is before.
    token: u64,
    zero: u64,
    one: u64,
    /// The open sequence may be more than style.
    odd: bool,
    /// Where the open sequence began.
    pub(crate) open_at: usize,
}

impl Carry {
    /// Whether a sequence is open.
    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.esc | self.csi != 0
    }

    /// A block of nothing but text passed while no sequence was open.
    #[inline(always)]
    pub(crate) fn passed(&mut self) {
        // What it leaves matters within a sequence alone.
        (self.token, self.zero, self.one) = (0, 0, 0);
    }

    /// Finds the sequences of the block at `at`, and sets its words in `masks`. `bad` is what is no
    /// text in it beside controls. Gives where the stretch ends, if it does within the block or in
    /// the sequence that was open before it.
    ///
    /// A sequence is `ESC [`, parameters, and a final byte, unless an ESC or a byte from 80 on cuts
    /// it short; an ESC may be cut short as well. Adding the byte after `[` to the
    /// parameters carries through their run to the byte behind: all sequences of the block end in
    /// one addition. Subtracting where they begin from where they end sets all bits between.
    #[inline(always)]
    pub(crate) fn block(
        &mut self,
        at: usize,
        bytes: &Bytes,
        bad: u64,
        masks: &mut Masks,
    ) -> Option<usize> {
        let was_open = self.esc | self.csi;
        let after = bytes.esc << 1 | self.esc;
        let start = after & bytes.bracket;
        let first = start << 1 | self.csi;
        let (sum, over) = bytes.parameter.overflowing_add(first);
        let behind = sum & !bytes.parameter;
        let ends = behind & bytes.fin;
        let others = after & !bytes.bracket;
        let cuts = bytes.esc | bytes.high;
        let cut = (behind & !bytes.fin | others) & cuts;
        // Where one was open, and another begins in the first byte, there are two beginnings there.
        let inside = (ends << 1 | cut).wrapping_sub(bytes.esc).wrapping_sub(was_open);

        let unfinished = (behind & !bytes.fin | others) & !cuts;
        let controls = bytes.stops & !bytes.high & !bytes.esc & !bytes.cr;
        let stops = unfinished | controls | bad;
        let mut odd = ends & !(bytes.m | bytes.k);
        let hiding = self.hiding(start, bytes) & inside;
        if hiding != 0 || self.odd {
            odd |= self.ends_of(hiding, ends);
        }
        let block = at / BLOCK;
        masks.text[block] = !inside & !bytes.cr;
        masks.ends[block] = ends;
        masks.erases[block] = ends & bytes.k & !odd;
        masks.odd[block] = odd;
        if cut != 0 {
            abort(masks, block, cut, others);
        }
        masks.crs[block] = bytes.cr;
        masks.any_odd |= odd != 0;
        masks.any_cr |= bytes.cr != 0;
        if stops != 0 {
            return Some(self.stop(at, stops, unfinished, bytes.esc));
        }
        self.esc = bytes.esc >> 63;
        self.csi = u64::from(over) | start >> 63;
        if self.is_open() {
            // A sequence that goes through a whole block is left to the rows, which know its limit.
            if ends | cut == 0 && was_open != 0 {
                return Some(self.open_at);
            }
            self.open_at = (at + 63).wrapping_sub(bytes.esc.leading_zeros() as usize);
        }
        None
    }

    /// The same for a block without ESC while no sequence is open; `stops` is what is no text.
    #[inline(always)]
    pub(crate) fn text(
        &mut self,
        at: usize,
        cr: u64,
        stops: u64,
        masks: &mut Masks,
    ) -> Option<usize> {
        self.passed();
        masks.text[at / BLOCK] = !cr;
        masks.crs[at / BLOCK] = cr;
        masks.any_cr |= cr != 0;
        (stops != 0).then(|| at + stops.trailing_zeros() as usize)
    }

    /// The bytes with which a parameter begins that may set a background or conceal: 4, 8, 10, with
    /// one zero before them, two zeros, or a private marker. They count within sequences alone.
    #[inline(always)]
    fn hiding(&mut self, start: u64, bytes: &Bytes) -> u64 {
        let begins = start | bytes.separator;
        let token = begins << 1 | self.token;
        let zeros = token & bytes.zero;
        let behind_zero = zeros << 1 | self.zero;
        let token_or_behind = token | behind_zero;
        let ones = token_or_behind & bytes.one;
        let behind_one = ones << 1 | self.one;
        self.token = begins >> 63;
        self.zero = zeros >> 63;
        self.one = ones >> 63;
        token_or_behind & bytes.four_eight | (behind_one | behind_zero) & bytes.zero | bytes.private
    }

    /// The ends of the sequences that hold these bits.
    #[cold]
    fn ends_of(&mut self, mut hiding: u64, ends: u64) -> u64 {
        let mut odd = 0;
        if self.odd {
            hiding |= 1;
        }
        self.odd = false;
        while hiding != 0 {
            let after = ends & (!0 << hiding.trailing_zeros());
            if after == 0 {
                self.odd = true;
                break;
            }
            let end = after & after.wrapping_neg();
            odd |= end;
            hiding &= !(end | (end - 1));
        }
        odd
    }

    /// Where what the rows must see begins: at the first of `stops`, or where its sequence does.
    #[cold]
    fn stop(&self, at: usize, stops: u64, unfinished: u64, esc: u64) -> usize {
        let bit = stops.trailing_zeros() as usize;
        match (unfinished >> bit & 1, esc & below(bit)) {
            (0, _) => at + bit,
            (_, 0) => self.open_at,
            (_, before) => at + 63 - before.leading_zeros() as usize,
        }
    }
}
