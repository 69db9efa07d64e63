package meaning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/wording"
)

// invalidField is a field that the API server rejects as invalid: its path, such as spec.initContainers[1].lifecycle, and why.
type invalidField struct{ path, why string }

// rejected matches the beginning of an error about a field, as in k8s.io/apimachinery/pkg/util/validation/field.
var rejected = lazyregexp.New(`(?:^\[?|, )((?:spec|metadata)[^\s:]*): ([A-Z][a-z]+(?: [a-z]+)?)\b(?:: )?`)

// invalidFields returns the fields in the message of an invalid pod.
func (r *Refusal) invalidFields() (all []invalidField) {
	if r.Kind != RefusalInvalid {
		return nil
	}
	found := rejected.FindAllStringSubmatchIndex(r.Message, -1)
	for i, at := range found {
		end, begin := len(r.Message), at[1]
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		if why := r.Message[at[4]:at[5]]; why != "Forbidden" && why != "Invalid value" {
			begin = at[4]
		}
		all = append(all, invalidField{r.Message[at[2]:at[3]], strings.TrimRight(r.Message[begin:end], " ,]")})
	}
	return all
}

// aboveLimit matches why a request is rejected, with the resource and its limit.
var aboveLimit = lazyregexp.New(`^"?([^":]+)"?: must be less than or equal to (\S+) limit of (\S+)$`)

// aboveLimits returns the requests that are above limits: both, and only the requests; nil if a field is invalid for another reason. In a
// pod template, the API server would not have accepted them: a LimitRange has set these limits.
func (r *Refusal) aboveLimits() (both, requests []string) {
	for _, f := range r.invalidFields() {
		m := aboveLimit.FindStringSubmatch(f.why)
		if m == nil {
			return nil, nil
		}
		if request := m[2] + " " + m[1]; !slices.Contains(requests, request) {
			both, requests = append(both, fmt.Sprintf("%s %s < %s", m[2], m[3], m[1])), append(requests, request)
		}
	}
	return both, requests
}

// correctField returns advice on the first of the fields, or on all requests, and the command that shows what sets their limits.
func (r *Refusal) correctField() (text, command string) {
	if _, requests := r.aboveLimits(); requests != nil {
		return "{recreate} with limits of at least " + wording.Enumerate(requests, "and") + ", or with smaller requests; or have the default limits of the LimitRange raised",
			limitRangeCommand
	}
	return "{recreate} with a correct " + r.invalidFields()[0].path + " in the pod template (it is immutable)", ""
}

// place returns the path of the field if it is there, and of its parent if the error is that it is missing.
func (f invalidField) place() string {
	if at := strings.LastIndexAny(f.path, ".["); at > 0 && strings.HasPrefix(f.why, "Required value") {
		return f.path[:at]
	}
	return f.path
}

// added returns the containers that the refusal is about, or the elements of lists that have the fields.
func (r *Refusal) added() []string {
	if r.Kind != RefusalInvalid {
		return r.Injected
	}
	var all []string
	for _, path := range r.Injected {
		if at := strings.LastIndex(path, "]"); at > 0 {
			path = path[:at+1]
		}
		if !slices.Contains(all, path) {
			all = append(all, path)
		}
	}
	return all
}
