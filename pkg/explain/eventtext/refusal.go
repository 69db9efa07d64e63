// Package eventtext parses the messages of events: why the API server refuses to create a pod, why a pod does not start, and
// which messages differ only in pods, ports and times.
package eventtext

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain/meaning"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// Refusal is the reason why a pod, or a Job of a CronJob, was not created.
type Refusal struct {
	// Reason is an explain.Refusal… constant.
	Reason string
	// By is the name of the quota, webhook, policy, or Pod Security level that refuses the object, or of the missing
	// ServiceAccount; "" if the message contains none.
	By string
	// Message is the API server's message, on one line.
	Message string
	// Trouble is the reason why a webhook could not be called, nil if it is unknown. Lacks are the requests and limits that a
	// quota demands.
	Trouble *meaning.Trouble
	Lacks   []string
}

// wrappers matches the prefixes that controllers and the API server put before the reason: the event recorder combines
// similar events, and some errors are internal.
var wrappers = lazyregexp.New(`^(?:\(combined from similar events\): )?(?:Error creating(?: job)?: )?(?:Internal error occurred: )?((?:pods|jobs\.batch)(?: "[^"]*")? is forbidden: |(?:Pod|Job\.batch)(?: "[^"]*")? is invalid: )?`)

// refusals are the messages of admission plugins, as of Kubernetes 1.36. They are matched at the beginning only, as a webhook
// or a policy may write anything.
var refusals = []struct {
	reason string
	// pattern has one group for By, and one for the message.
	pattern *lazyregexp.Regexp
}{
	{explain.RefusalQuota, lazyregexp.New(`^exceeded quota: ([^\s,]+)(?:, )?(.*)`)},
	{explain.RefusalQuotaNeeds, lazyregexp.New(`^failed quota: ([^\s:]+): (must specify .*)`)},
	{explain.RefusalPodSecurity, lazyregexp.New(`^violates PodSecurity "([^"]+)": (.*)`)},
	{explain.RefusalLimitRange, lazyregexp.New(`^()(\[?(?:(?:maximum|minimum) \S+ usage per |\S+ max limit to request ratio per ).*)`)},
	{explain.RefusalServiceAccount, lazyregexp.New(`^error looking up service account \S+: (?:serviceaccounts? "([^"]+)" )?(.*)`)},
	{explain.RefusalPriorityClass, lazyregexp.New(`^()(no PriorityClass with name \S+ was found)$`)},
	{explain.RefusalPolicy, lazyregexp.New(`^ValidatingAdmissionPolicy '([^']+)' (?:with binding '[^']+' )?denied request: (.*)`)},
	{explain.RefusalWebhook, lazyregexp.New(`^admission webhook "([^"]+)" denied the request(?:: | )(.*)`)},
	{explain.RefusalWebhookDown, lazyregexp.New(`^failed calling webhook "([^"]+)": (.*)`)},
}

// RefusalOf parses the message of an event FailedCreate.
func RefusalOf(message string) Refusal {
	message = strings.Join(strings.Fields(message), " ")
	wrapper := wrappers.FindStringSubmatch(message)
	message = message[len(wrapper[0]):]
	for _, r := range refusals {
		m := r.pattern.FindStringSubmatch(message)
		if m == nil {
			continue
		}
		found := Refusal{Reason: r.reason, By: m[1], Message: m[2]}
		switch r.reason {
		case explain.RefusalWebhookDown:
			found.Trouble = meaning.OfWebhook(found.Message)
		case explain.RefusalQuotaNeeds:
			found.Lacks = lacking(found.Message)
		}
		return found
	}
	switch {
	case wrapper[1] == "":
		return Refusal{Reason: explain.RefusalOther, Message: message}
	case strings.HasPrefix(wrapper[1], "Pod"), strings.HasSuffix(wrapper[1], "is invalid: "):
		return Refusal{Reason: explain.RefusalInvalid, Message: message}
	}
	return Refusal{Reason: explain.RefusalForbidden, Message: message}
}

// lacking returns the resources in "must specify limits.cpu for: main; limits.memory for: main", or, before Kubernetes 1.23,
// in "must specify limits.cpu,limits.memory".
func lacking(message string) (all []string) {
	for part := range strings.SplitSeq(strings.TrimPrefix(message, "must specify "), "; ") {
		resources, _, _ := strings.Cut(part, " for: ")
		for resource := range strings.SplitSeq(resources, ",") {
			if resource = strings.TrimSpace(resource); resource != "" {
				all = append(all, resource)
			}
		}
	}
	return all
}
