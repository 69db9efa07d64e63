package wait

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/internal/feed"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile"
)

// The kinds of goals that --for can set.
const (
	goalFinished  = "finished"
	goalComplete  = "complete"
	goalFailed    = "failed"
	goalDelete    = "delete"
	goalCondition = "condition"
	goalJSONPath  = "jsonpath"
)

const goalForms = "finished, complete, failed, delete, condition=NAME[=VALUE], jsonpath={PATH}[=VALUE]"

// conditionMet is the end of waiting for a condition or a JSONPath.
const conditionMet = reconcile.Outcome("ConditionMet")

// goal is the state that --for waits for.
type goal struct {
	kind string
	// verb, past and pending are for "cannot VERB", "2 of 3 PAST" and "PENDING: job.batch/train".
	verb, past, pending string
	// isMet is set for conditions and JSONPaths; nil for others.
	isMet func(*batchv1.Job, *unstructured.Unstructured) (bool, error)
	// ofStatus is set if a finished Job can no longer reach the goal.
	ofStatus bool
}

// parseGoal parses --for. Its errors are usage errors.
func parseGoal(text string) (*goal, error) {
	kind, what, _ := strings.Cut(text, "=")
	switch kind = strings.ToLower(kind); kind {
	case goalJSONPath:
		return parsePath(what)
	case goalCondition:
		name, value, _ := strings.Cut(what, "=")
		value = cmp.Or(value, "true")
		kind = strings.ToLower(name)
		if !slices.Contains([]string{goalFinished, goalComplete, goalFailed}, kind) || !strings.EqualFold(value, "true") {
			return parseCondition(name, value)
		}
		what = ""
	}
	switch {
	case what != "":
	case kind == goalFinished, kind == goalComplete, kind == goalFailed:
		return &goal{kind: kind, verb: strings.TrimSuffix(kind, "ed"), past: "finished", pending: "not finished yet"}, nil
	case kind == goalDelete:
		return &goal{kind: kind, past: "deleted", pending: "not deleted yet"}, nil
	}
	return nil, cmdutil.UsageErrorf("--for=%s: must be one of: %s", text, goalForms)
}

func parseCondition(name, value string) (*goal, error) {
	if name == "" {
		return nil, cmdutil.UsageErrorf("--for=condition=: name a condition, such as condition=Suspended or condition=Suspended=false")
	}
	isMet := func(job *batchv1.Job, _ *unstructured.Unstructured) (bool, error) {
		return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return strings.EqualFold(string(c.Type), name) && strings.EqualFold(string(c.Status), value)
		}), nil
	}
	return newCondition(isMet, true), nil
}

func newCondition(isMet func(*batchv1.Job, *unstructured.Unstructured) (bool, error), ofStatus bool) *goal {
	return &goal{
		kind: goalCondition, verb: "meet the condition", past: "met the condition", pending: "condition not met yet",
		isMet: isMet, ofStatus: ofStatus,
	}
}

// parsePath parses {PATH}, {PATH}=VALUE, or the same without braces, as kubectl wait does.
func parsePath(text string) (*goal, error) {
	path, value, hasValue := strings.Cut(text, "}=")
	switch {
	case hasValue:
		path += "}"
	case !strings.HasPrefix(text, "{"):
		path, value, hasValue = strings.Cut(text, "=")
		path = "{." + strings.TrimPrefix(path, ".") + "}"
	}
	parsed := jsonpath.New("for").AllowMissingKeys(true)
	if err := parsed.Parse(path); err != nil || path == "{.}" {
		return nil, cmdutil.UsageErrorf("--for=jsonpath=%s: write a path and a value, such as jsonpath='{.status.succeeded}'=3", text)
	}
	isMet := func(_ *batchv1.Job, object *unstructured.Unstructured) (bool, error) {
		results, err := parsed.FindResults(object.Object)
		if err != nil {
			return false, cmdutil.UsageErrorf("--for=jsonpath=%s: %v", text, err)
		}
		found := slices.Concat(results...)
		if !hasValue {
			return len(found) > 0, nil
		}
		return allAre(value, found)
	}
	return newCondition(isMet, strings.HasPrefix(path, "{.status")), nil
}

// allAre reports whether a JSONPath has results, and all of them equal the value.
func allAre(value string, found []reflect.Value) (bool, error) {
	for _, result := range found {
		switch got := result.Interface().(type) {
		case map[string]any, []any:
			return false, cmdutil.UsageErrorf("the path of --for leads to an object or a list, not to a value")
		default:
			if fmt.Sprint(got) != value {
				return false, nil
			}
		}
	}
	return len(found) > 0, nil
}

// endOf returns how waiting for a Job ends after an update, "" if it does not end yet. job is its latest state.
func (g *goal) endOf(job *batchv1.Job, u *feed.Update) (reconcile.Outcome, error) {
	if g.kind == goalDelete {
		return u.Gone, nil
	}
	if g.isMet != nil && u.Job != nil {
		if met, err := g.isMet(job, u.Job); met || err != nil {
			return conditionMet, err
		}
	}
	if g.isMet != nil && !g.ofStatus {
		return u.Gone, nil
	}
	return feed.EndOf(job, u.Gone), nil
}

// completeGoal completes --for.
func completeGoal(_ *cobra.Command, _ []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	words := []string{goalFinished, goalComplete, goalFailed, goalDelete}
	for _, condition := range []batchv1.JobConditionType{batchv1.JobSuspended, batchv1.JobSuccessCriteriaMet, batchv1.JobFailureTarget} {
		words = append(words, goalCondition+"="+string(condition))
	}
	words = cmdutil.WithPrefix(append(words, goalJSONPath+"="), toComplete)
	if len(words) == 1 && words[0] == goalJSONPath+"=" {
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
