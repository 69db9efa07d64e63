// Package indexmap lays out the completion indexes of a Job as a map, with one cell for each index, or for several if they do
// not fit.
//
// It is pure: a Map is built once from the lists of a Report, and never changes; a Grid divides a Map into cells of equal
// size. A Mark is the look of a cell: a glyph of one column and a style.
package indexmap
