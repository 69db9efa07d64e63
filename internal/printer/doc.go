// Package printer prints objects of the cluster in the formats of kubectl's --output. cli-runtime has flags for them, too,
// but these bring all API groups and a text/template that calls methods, for which the linker keeps every method of every
// type (ADR 0021).
package printer
