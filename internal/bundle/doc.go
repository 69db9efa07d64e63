// Package bundle saves the evidence about a Job in one file, for when its pods, or the whole cluster, are gone.
//
// A bundle is an archive (tar, gzip) of the Job, its pods, events, logs and nodes as the API server returned them, without
// secrets, and of files derived from these: a report as text, JSON and HTML, and a recording for watch --from. Reports on a
// bundle are computed from its objects, like reports on a cluster.
package bundle
