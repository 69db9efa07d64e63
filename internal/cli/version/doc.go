// Package version is the verb version.
package version
