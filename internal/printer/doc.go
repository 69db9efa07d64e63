// Package printer prints objects of the cluster in the formats of kubectl's --output. cli-runtime has such flags, too, but
// they link all API groups and a text/template that calls methods, which makes the linker keep every method of every type
// (ADR 0021).
package printer
