// Package sanitize makes untrusted text safe to write to a terminal.
//
// Text from the cluster (names, reasons, messages, logs, annotations, error text) and from a kubeconfig can carry
// bytes that a terminal obeys (CVE-2021-25743) and runes that make a line read as something else. Both are shown
// as an escape instead: ESC becomes the four characters \x1b, U+202E the six characters \u202e.
//
// It guarantees: the result is valid UTF-8; it contains no control or invisible rune of the list below; text without such
// runes is returned unchanged; both functions are idempotent. A backslash itself is not escaped, so the result is for reading
// and is not reversible.
//
// Escaped are
//   - C0 controls and DEL (CR too; newline and tab in Line only), C1 controls as U+0080–9F and as raw bytes,
//     and every other byte that is not valid UTF-8;
//   - the line and paragraph separators U+2028 and U+2029;
//   - all format runes (category Cf): the bidi controls U+061C, U+200E/F, U+202A–E and U+2066–9, the zero-width
//     runes U+200B–D, U+2060 and U+FEFF, soft hyphen, tag characters. Zero-width joiners have honest uses (emoji,
//     Persian), yet in text from a cluster an invisible rune makes two different names look alike and breaks
//     column widths; the escape loses nothing. Only the few Cf runes that are visible marks of their own
//     (Prepended_Concatenation_Mark, e.g. U+0600) are left alone;
//   - invisible fillers (U+115F, U+3164, …) and the variation selectors U+E0100–1EF, which can smuggle hidden data.
//
// It is for display. JSON and YAML output keeps its values unchanged and does not use it. FileName is for paths.
package sanitize
