// Package indexmap lays the completion indexes of a Job out as a map: one cell for an index,
// or for several when they do not fit.
//
// It is pure: a Map is made of the lists of a Report once, and never changes; a Grid is a
// Map in cells of one size. What a cell looks like is a Mark, which has a glyph of one
// column and a style.
package indexmap
