// Package text lays out an explain.Report on a page: from top to bottom (Explanation), on one screen (Summary), and for
// several Jobs at once (Explanations). The parts that the page shares with the interactive view are drawn by
// pkg/explain/section.
//
// It promises:
//   - Text from the Report reaches the terminal only through pkg/layout, which sanitizes it before it adds styles. Without
//     Color the output has no control character except the newline; with Color it also has the sequences of the 16 colors.
//   - No line is wider than Options.Width, except commands, which must stay copyable, and text that does not fit at all in
//     fewer than 40 columns.
//   - Color alone never carries meaning, and the same Report and Options give the same bytes.
//
// The package reads neither clock nor environment, and makes no decisions: fields that are missing in a Report are left out.
package text
