// Package section draws the parts of an explain.Report: problems, causes, policies, limits,
// what comes next, the timeline, and cells for tables of indexes, pods and Jobs. The printed
// explanation (pkg/explain/text) and the interactive view (pkg/tui) place the same sections.
//
// A Frame says how much room there is, which time it is, and what the terminal can show.
// Lines of a Section are never wider than the Frame.
//
// It reads neither clock nor environment, and decides nothing: what is missing in a Report
// is left out.
package section
