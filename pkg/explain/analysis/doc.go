// Package analysis explains a Job: it turns an explain.Input into an explain.Report.
//
// It asks the decision core (reconcile.Review) what would be written next, and why: rules that
// matched, limits, clocks, pods that wait. What no decision depends on (images that cannot be
// pulled, quotas, a controller that does not run) it finds itself.
//
// A report is made in steps, each of which has all that it needs: the analysis (sorted pods,
// failures by cause), the numbers (counts, indexes, policies, clocks), the problems, and what
// follows from them (verdict, evidence, next steps, advice).
package analysis
