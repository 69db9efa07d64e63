// Package text puts an explain.Report on a page: to read from top to bottom (Explanation), on
// one screen (Summary), and for several Jobs at once (Explanations). What the page shares with
// the interactive view is drawn by pkg/explain/section.
//
// It promises:
//   - Text from the Report reaches the terminal only through pkg/layout, which makes it safe
//     before it adds styles. Without Color no control character but the newline is written,
//     with it only the sequences of the 16 colors.
//   - No line is wider than Options.Width, but commands, which must stay copyable, and what
//     has no room at all in fewer than 40 columns.
//   - Nothing is said by color alone, and the same Report and Options give the same bytes.
//
// It reads neither clock nor environment, and decides nothing: what is missing in a Report
// is left out.
package text
