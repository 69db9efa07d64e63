package eventtext

import (
	"regexp"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
)

// holds are what Kueue writes in the condition QuotaReserved of a Workload, as of its version 0.14. The message may have several
// of them, one for each flavor or pod set: the first one counts that waiting helps with, or else the first.
var holds = []struct {
	kind    explain.QueueHoldKind
	pattern *regexp.Regexp
}{
	{explain.HoldQuotaInUse, regexp.MustCompile(`insufficient unused quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,;]+)(?:, (?P<missing>\S+) more needed)?`)},
	{explain.HoldBorrowingLimit, regexp.MustCompile(`borrowing limit for (?P<resource>\S+) in flavor (?P<flavor>\S+) exceeded`)},
	{explain.HoldQuotaTooSmall, regexp.MustCompile(`insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,;]+)(?:.*?> maximum capacity(?: \((?P<most>[^\s)]+)\))?)?`)},
	{explain.HoldNoResource, regexp.MustCompile(`resource (?P<resource>\S+) unavailable in ClusterQueue`)},
	{explain.HoldQueueMissing, regexp.MustCompile(`^(?P<queuekind>LocalQueue|ClusterQueue) (?P<queuename>\S+) doesn't exist`)},
	{explain.HoldQueueStopped, regexp.MustCompile(`^(?P<queuekind>LocalQueue|ClusterQueue) (?P<queuename>\S+) is (?:inactive|stopped)`)},
}

// HoldOf is why Kueue does not admit the Workload, nil if its conditions do not say so.
func HoldOf(w *explain.Workload) *explain.QueueHold {
	reserved, evicted := w.Condition("QuotaReserved"), w.Condition("Evicted")
	hold := &explain.QueueHold{Workload: w.Name}
	if reserved != nil && reserved.Status != "True" {
		hold.Message = flat(reserved.Message)
	}
	switch {
	case w.Inactive:
		hold.Kind = explain.HoldDeactivated
		if hold.Message == "" && evicted != nil {
			hold.Message = flat(evicted.Message)
		}
	case reserved != nil && reserved.Status == "True":
		if len(w.Checks) == 0 {
			return nil
		}
		hold.Kind, hold.Checks = explain.HoldAdmissionChecks, w.Checks
	case hold.Message == "":
		return nil
	default:
		readHold(hold)
	}
	return hold
}

// readHold takes the kind and its values from the message.
func readHold(hold *explain.QueueHold) {
	hold.Kind = explain.HoldOther
	for _, known := range holds {
		m := known.pattern.FindStringSubmatch(hold.Message)
		if m == nil {
			continue
		}
		hold.Kind = known.kind
		for field, at := range map[string]*string{
			"resource": &hold.Resource, "flavor": &hold.Flavor, "missing": &hold.Missing, "most": &hold.Most,
			"queuekind": &hold.QueueKind, "queuename": &hold.QueueName,
		} {
			if i := known.pattern.SubexpIndex(field); i >= 0 {
				*at = strings.TrimRight(m[i], ".")
			}
		}
		return
	}
}

func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
