// Package jobprinter prints Jobs as a table, as objects, or by name.
package jobprinter
