// Package successpolicy evaluates spec.successPolicy on the indexes that have
// succeeded (KEP-3998).
package successpolicy
