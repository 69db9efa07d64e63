// Package feed follows the Jobs of a cluster for all verbs that watch: it lists and watches Jobs, and reports each change. It
// never writes, and never decides what to show.
//
// The loop is Watch.Run: it lists, watches from the list's resourceVersion, resumes a watch that ended, lists again when its
// resourceVersion has expired (410), and retries a lost connection. The caller must:
//
//   - open a Connection of a Link, whose State says whether the reported data is up to date, and run a Pulse with it, which
//     detects a silent API server;
//   - decide with Watch.RetryAfter whether a refusal (403) ends the Watch or is retried later, and handle the Refusal.
//
// Jobs compares lists with the Jobs reported before, so that callers see only changes: a Job exists, was deleted, or was
// replaced by another Job of the same name. EndOf decides how a Job ended, for all verbs that wait.
//
// Package live turns this data into Snapshots for the interactive view. ADR 0014 compares the loop with client-go's
// Reflector.
package feed
