package kueue

import (
	"regexp"
	"strings"
)

// HoldKind is the kind of reason why Kueue does not admit a Job.
type HoldKind string

// The kinds.
const (
	QuotaInUse      HoldKind = "QuotaInUse"      // other Jobs use the quota
	QuotaTooSmall   HoldKind = "QuotaTooSmall"   // the Job requests more than the whole quota
	NoResource      HoldKind = "NoResource"      // the ClusterQueue has no quota of a resource
	BorrowingLimit  HoldKind = "BorrowingLimit"  // the borrowing limit of the ClusterQueue in its cohort
	QueueMissing    HoldKind = "QueueMissing"    // the LocalQueue or the ClusterQueue does not exist
	QueueStopped    HoldKind = "QueueStopped"    // the LocalQueue or the ClusterQueue is inactive
	Deactivated     HoldKind = "Deactivated"     // spec.active of the Workload is false
	AdmissionChecks HoldKind = "AdmissionChecks" // quota is reserved, but admission checks are not ready
	Other           HoldKind = "Other"           // another reason, see Message
)

// Hold is the reason why Kueue does not admit a Job, from the conditions of its Workload.
type Hold struct {
	Kind     HoldKind `json:"kind"`
	Workload string   `json:"workload"`
	// Resource and Flavor identify the quota. Missing is the additional amount needed (QuotaInUse), and Most the maximum
	// available (QuotaTooSmall), as Kueue writes them; "" if it does not.
	Resource string `json:"resource,omitempty"`
	Flavor   string `json:"flavor,omitempty"`
	Missing  string `json:"missing,omitempty"`
	Most     string `json:"most,omitempty"`
	// QueueKind is LocalQueue or ClusterQueue, and QueueName the name of the queue that is missing or stopped.
	QueueKind string `json:"queueKind,omitempty"`
	QueueName string `json:"queueName,omitempty"`
	// Checks are the admission checks that are not ready.
	Checks []AdmissionCheck `json:"checks,omitempty"`
	// Message is the message of the condition.
	Message string `json:"message,omitempty"`
}

// holds are messages of Kueue in the condition QuotaReserved of a Workload. A message may contain several of them, one for
// each flavor or pod set: reasons that go away by waiting come first.
var holds = []struct {
	kind    HoldKind
	pattern *regexp.Regexp
}{
	{QuotaInUse, regexp.MustCompile(`insufficient unused quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,;]+)(?:, (?P<missing>\S+) more needed)?`)},
	{BorrowingLimit, regexp.MustCompile(`borrowing limit for (?P<resource>\S+) in flavor (?P<flavor>\S+) exceeded`)},
	{QuotaTooSmall, regexp.MustCompile(`insufficient quota for (?P<resource>\S+) in flavor (?P<flavor>[^\s,;]+)(?:.*?> maximum capacity(?: \((?P<most>[^\s)]+)\))?)?`)},
	{NoResource, regexp.MustCompile(`resource (?P<resource>\S+) unavailable in ClusterQueue`)},
	{QueueMissing, regexp.MustCompile(`^(?P<queuekind>LocalQueue|ClusterQueue) (?P<queuename>\S+) doesn't exist`)},
	{QueueStopped, regexp.MustCompile(`^(?P<queuekind>LocalQueue|ClusterQueue) (?P<queuename>\S+) is (?:inactive|stopped)`)},
}

// HoldOf returns the reason why Kueue does not admit the Workload, nil if its conditions give none.
func HoldOf(w *Workload) *Hold {
	reserved, evicted := w.Condition("QuotaReserved"), w.Condition("Evicted")
	hold := &Hold{Workload: w.Name}
	if reserved != nil && reserved.Status != "True" {
		hold.Message = flat(reserved.Message)
	}
	switch {
	case w.Inactive:
		hold.Kind = Deactivated
		if hold.Message == "" && evicted != nil {
			hold.Message = flat(evicted.Message)
		}
	case reserved != nil && reserved.Status == "True":
		if len(w.Checks) == 0 {
			return nil
		}
		hold.Kind, hold.Checks = AdmissionChecks, w.Checks
	case hold.Message == "":
		return nil
	}
	if hold.Kind != "" {
		return hold
	}
	hold.Kind = Other
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
		break
	}
	return hold
}

// flat puts a text on one line.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
