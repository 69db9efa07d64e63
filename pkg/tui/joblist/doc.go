// Package joblist is the screen that lists Jobs: those that need attention first, each with its
// status, its progress and the reason.
package joblist
