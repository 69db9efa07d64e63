// Package rulename reads, writes and checks the names of pod failure policy rules
// (KEP-4443), and makes the condition reason of a rule.
package rulename
