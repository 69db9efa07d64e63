// Package pods implements the list of a Job's pods, and the screen of one pod or index: its attempts, and the tabs Pod, Logs
// and Events.
package pods
