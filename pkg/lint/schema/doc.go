// Package schema compares the content of an object with the Go type of its API: the names of fields, and the types of
// values.
//
//	Go type ─► Of ─► Schema;  Schema, content ─► Check ─► Problems, and content that decodes without errors
//
// It reports every wrong name and value with its path. It corrects the content if the intended value is certain: a
// quoted number, a field one level too high, a different case. It removes other wrong values, so that the rest of the
// object can still be checked.
package schema
