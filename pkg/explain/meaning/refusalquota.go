package meaning

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

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

// neverFits returns the resource because of which a quota would refuse the object even if nothing else existed: it asks for more
// of it than the whole quota has; pods or Jobs if it limits their number, "" if there is none.
func (r *Refusal) neverFits() string {
	if r.Kind != RefusalQuota {
		return ""
	}
	_, all, _ := strings.Cut(r.Message, "limited: ")
	limits, requests := quantities(all), r.requested()
	for _, name := range append([]string{"pods", "count/pods"}, slices.Sorted(maps.Keys(requests))...) {
		request := requests[name]
		if limit, known := limits[name]; known && request.Cmp(limit) > 0 {
			return cmp.Or(limitedNumbers[name], name)
		}
	}
	return ""
}

// requested returns what the object asks for of what the quota has too little of.
func (r *Refusal) requested() map[string]resource.Quantity {
	asked, _, _ := strings.Cut(r.Message, ", used: ")
	return quantities(strings.TrimPrefix(asked, "requested: "))
}

// limitedNumber returns pods or Jobs if the quota has too little of nothing but their number, otherwise "".
func (r *Refusal) limitedNumber() (number string) {
	if r.Kind != RefusalQuota {
		return ""
	}
	for name := range r.requested() {
		if number = limitedNumbers[name]; number == "" {
			return ""
		}
	}
	return number
}

// limitedNumbers are the resources of a quota that limit the number of objects.
var limitedNumbers = map[string]string{"pods": "pods", "count/pods": "pods", "count/jobs.batch": "Jobs"}

// quantities parses "pods=1,requests.cpu=2", and leaves out what it cannot parse.
func quantities(list string) map[string]resource.Quantity {
	all := map[string]resource.Quantity{}
	for part := range strings.SplitSeq(list, ",") {
		name, value, _ := strings.Cut(part, "=")
		if q, err := resource.ParseQuantity(value); err == nil {
			all[name] = q
		}
	}
	return all
}

// bound matches what a LimitRange allows.
var bound = lazyregexp.New(`(maximum|minimum) (\S+) usage per (\w+) is ([^\s,]+)`)

// ratio matches how much higher than the request a LimitRange allows a limit to be.
var ratio = lazyregexp.New(`(\S+) max limit to request ratio per (\w+) is (\d+)`)

// bounds returns what a LimitRange allows, as far as the message has it.
func (r *Refusal) bounds() string {
	var all []string
	for _, m := range bound.FindAllStringSubmatch(r.Message, -1) {
		least := map[string]string{"maximum": "at most ", "minimum": "at least "}[m[1]]
		all = append(all, m[2]+" of "+least+m[4]+" per "+strings.ToLower(m[3]))
	}
	for _, m := range ratio.FindAllStringSubmatch(r.Message, -1) {
		all = append(all, "a limit of "+m[1]+" of at most "+m[3]+" times the request per "+strings.ToLower(m[2]))
	}
	return cmp.Or(wording.Enumerate(all, "and"), "see its minimum, maximum and ratio")
}
