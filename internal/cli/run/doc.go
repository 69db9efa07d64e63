// Package run implements the verb run: it creates Jobs, follows them, and exits with their result.
package run
