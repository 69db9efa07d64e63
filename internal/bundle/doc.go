// Package bundle is evidence about a Job in one file, for when its pods, or the whole cluster, are gone.
//
// A bundle is an archive (tar, gzip) of the Job, its pods, events, logs and nodes as the API server had them, without
// secrets, and of what follows from these: a report as text, JSON and HTML, and a recording for watch --replay. Reports
// on a bundle are made from its objects, as those on a cluster are.
package bundle
