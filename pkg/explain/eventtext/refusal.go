// Package eventtext reads the messages of events: why the API server refuses to create a pod, and
// what messages about different pods, ports and times have in common.
package eventtext

import (
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/explain"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// Refusal is why a pod, or a Job of a CronJob, was not created.
type Refusal struct {
	// Reason is one of explain.Refusal….
	Reason string
	// By names the quota, webhook, policy, or Pod Security level that refuses it, or the
	// ServiceAccount that does not exist; "" if the message names none.
	By string
	// Message is what the API server says about it, on one line.
	Message string
	// Trouble is why a webhook could not be called, nil if that is not known. Lacks are the requests and limits that a quota
	// demands.
	Trouble *explain.Trouble
	Lacks   []string
}

// wrappers are what controllers and the API server write before the reason: the event recorder joins
// similar events, and some errors are internal.
var wrappers = lazyregexp.New(`^(?:\(combined from similar events\): )?(?:Error creating(?: job)?: )?(?:Internal error occurred: )?((?:pods|jobs\.batch)(?: "[^"]*")? is forbidden: |(?:Pod|Job\.batch)(?: "[^"]*")? is invalid: )?`)

// refusals are what admission plugins write, as of Kubernetes 1.36. A webhook or a policy may say anything: only
// the beginning counts.
var refusals = []struct {
	reason string
	// pattern has a group for By, and one for the message.
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

// RefusalOf reads the message of an event FailedCreate.
func RefusalOf(message string) Refusal {
	message = strings.Join(strings.Fields(message), " ")
	wrapper := wrappers.FindStringSubmatch(message)
	message = message[len(wrapper[0]):]
	for _, r := range refusals {
		if m := r.pattern.FindStringSubmatch(message); m != nil {
			return withDetails(Refusal{Reason: r.reason, By: m[1], Message: m[2]})
		}
	}
	switch {
	case wrapper[1] == "":
		return Refusal{Reason: explain.RefusalOther, Message: message}
	case strings.HasPrefix(wrapper[1], "Pod"), strings.HasSuffix(wrapper[1], "is invalid: "):
		return Refusal{Reason: explain.RefusalInvalid, Message: message}
	}
	return Refusal{Reason: explain.RefusalForbidden, Message: message}
}

// withDetails adds what the message says in particular.
func withDetails(r Refusal) Refusal {
	switch r.Reason {
	case explain.RefusalWebhookDown:
		r.Trouble = WebhookTrouble(r.Message)
	case explain.RefusalQuotaNeeds:
		r.Lacks = lacking(r.Message)
	}
	return r
}

// lacking are the resources in "must specify limits.cpu for: main; limits.memory for: main", or, before Kubernetes 1.23, in
// "must specify limits.cpu,limits.memory".
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
