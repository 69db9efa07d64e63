// Package section draws the parts of an explain.Report: problems, causes, policies, limits, next steps, the timeline, and
// cells for tables of indexes, pods and Jobs. The printed explanation (pkg/explain/text) and the interactive view (pkg/tui)
// share these sections.
//
// A Frame holds the width, the time, and the capabilities of the terminal. Lines of a Section are never wider than the Frame.
//
// The package reads neither clock nor environment, and makes no decisions: fields that are missing in a Report are left out.
package section
