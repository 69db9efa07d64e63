// Package version implements the verb version.
package version
