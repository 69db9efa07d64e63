// Package watch implements the verb watch: it shows Jobs live, in the interactive view or as lines.
package watch
