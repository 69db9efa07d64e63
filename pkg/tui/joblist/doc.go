// Package joblist implements the screen that lists Jobs: those that need attention first, each with its status, progress and
// reason.
package joblist
