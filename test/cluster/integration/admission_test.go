package integration

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/reconcile/rulename"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// admissionFolder holds the policies for rule names (KEP-4443).
var admissionFolder = filepath.Join("..", "..", "..", "config", "admission", "rule-names")

// newAdmission runs the preparations, if any, applies the policies, and waits until all of them are in force.
func newAdmission(t *testing.T, before ...func(*admission)) *admission {
	t.Helper()
	a := &admission{t: t, warnings: &warnings{}}
	config := rest.CopyConfig(apiServer.Config)
	config.WarningHandler = a.warnings
	a.client = newClient(t, config, "user")
	a.namespace = newNamespace(t, a.client)
	probe := a.mustCreate("probe", "0=Probe", 1)
	for _, do := range before {
		do(a)
	}
	for _, name := range resourcesOf(t, admissionFolder) {
		a.apply(filepath.Join(admissionFolder, name))
	}
	a.until("invalid names are rejected", func() bool {
		_, err := a.dryRun("0=a-b", 1)
		return apierrors.IsInvalid(err)
	})
	a.until("a change of names is rejected", func() bool {
		return apierrors.IsInvalid(a.annotate(probe, "", ptr.To("0=Other"), metav1.DryRunAll))
	})
	a.until("there are warnings", func() bool {
		given, err := a.dryRun("0=lower", 1)
		return err == nil && len(given) != 0
	})
	return a
}

// annotated returns a Job that names its rules. It is suspended, as no controller runs it.
func annotated(name, value string, rules int) *batchv1.Job {
	job := named(name, newJob(withRules(rules), suspended))
	job.Annotations = map[string]string{rulename.Annotation: value}
	return job
}

// dryRun creates a Job without storing it, and returns the warnings and the error.
func (a *admission) dryRun(value string, rules int) (given []string, err error) {
	a.warnings.texts = nil
	_, err = a.client.BatchV1().Jobs(a.namespace).Create(a.t.Context(), annotated("new", value, rules),
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return a.warnings.texts, err
}

func (a *admission) mustCreate(name, value string, rules int) *batchv1.Job {
	a.t.Helper()
	return a.mustStore(annotated(name, value, rules))
}

func (a *admission) mustStore(job *batchv1.Job) *batchv1.Job {
	a.t.Helper()
	job, err := a.client.BatchV1().Jobs(a.namespace).Create(a.t.Context(), job, metav1.CreateOptions{})
	assert.NoError(a.t, err, "creating a Job")
	return job
}

// annotate sets or removes the annotation of a stored Job, through a subresource, or the main resource if it is "".
func (a *admission) annotate(job *batchv1.Job, subresource string, value *string, dryRun ...string) error {
	return a.patch(job, subresource, map[string]any{"metadata": map[string]any{"annotations": map[string]any{rulename.Annotation: value}}}, dryRun...)
}

func (a *admission) patch(job *batchv1.Job, subresource string, fields map[string]any, dryRun ...string) error {
	patch, err := yaml.Marshal(fields)
	if err == nil {
		patch, err = yaml.YAMLToJSON(patch)
	}
	if err != nil {
		return err
	}
	subresources := slices.DeleteFunc([]string{subresource}, func(s string) bool { return s == "" })
	_, err = a.client.BatchV1().Jobs(a.namespace).Patch(a.t.Context(), job.Name, types.MergePatchType, patch,
		metav1.PatchOptions{DryRun: dryRun}, subresources...)
	return err
}

// mustAgree compares the API server's response to the creation of a Job, including warnings, with package rulename.
func (a *admission) mustAgree(value string, rules int) (legal bool) {
	a.t.Helper()
	names, violations := rulename.Parse(value, rules)
	given, err := a.dryRun(value, rules)
	what := fmt.Sprintf("%.300q for %d rules", value, rules)
	switch {
	case err == nil && len(violations) != 0:
		a.t.Errorf("%s: the policy takes it, rulename does not: %v", what, violations)
	case err != nil && len(violations) == 0:
		a.t.Errorf("%s: rulename takes it, the policy does not: %v", what, err)
	case err != nil && !isRejection(err, "0=ExitCode2;2=OOMKilled"):
		a.t.Errorf("%s: the rejection does not show the legal form: %v", what, err)
	}
	if err != nil || len(violations) != 0 {
		return false
	}
	lint := slices.ContainsFunc(names, func(name string) bool { return rulename.Lint(name) != "" })
	if lint != (len(given) == 1 && strings.Contains(given[0], "CamelCase")) || !lint && len(given) != 0 {
		a.t.Errorf("%s: a warning is due: %v, given: %q", what, lint, given)
	}
	return true
}

// isRejection reports whether a policy has rejected a request with this message.
func isRejection(err error, wantText string) bool {
	return apierrors.IsInvalid(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy") && strings.Contains(err.Error(), wantText)
}

// internalReasons are the names that PFN-20 lists.
var internalReasons = []string{
	batchv1.JobReasonPodFailurePolicy, batchv1.JobReasonBackoffLimitExceeded, batchv1.JobReasonDeadlineExceeded,
	batchv1.JobReasonMaxFailedIndexesExceeded, batchv1.JobReasonFailedIndexes, batchv1.JobReasonSuccessPolicy,
	batchv1.JobReasonCompletionsReached, "JobSuspended", "JobResumed",
}

// Names that a policy rejects or accepts, one by one, with a part of the message.
// Requirements: PFN-16, PFN-17, PFN-18, PFN-19, PFN-20, PFN-22, PFN-24, PFN-29
func TestAdmissionRejectsIllegalNames(t *testing.T) {
	t.Parallel()
	a := newAdmission(t)
	long := strings.Repeat("x", 112)
	for value, wantText := range map[string]string{
		"": "", "0=": "", "0=ExitCode2;2=OOMKilled": "", "2=C;0=A": "", "0=a;1=A": "", "1=a,b:c": "", "0=2fast": "",
		"0=" + long[:111]: "", "1=1;0=00": "", "0=3": "", "0=99999999999999999999": "", "0=exit_code_2": "", "0=PodFailurePolicy_PodFailurePolicy": "",
		"0=Foo;2=Foo": `"2=Foo": two rules have the same name`,
		"0=02":        `"0=02": the name is the index of another rule`,
		"0=exit-2":    `"0=exit-2": names have letters`,
		"0=x:":        `do not end in`, "0=é": `names have letters`, "0=a b": `names have letters`, "0=a\nb": `"0=a\nb": names have letters`,
		"0=" + long: `names have at most 111 characters`,
		"3=A":       `"3=A": there are only 3 rules`,
		"0=A;0=B":   `the rule is there twice`, "0=;0=": `the rule is there twice`,
		"01=A": `not index=name joined by ';'`, "0=A;": `not index=name`, "0=A; 1=B": `not index=name`, "A": `not index=name`,
		"0=" + strings.Repeat("x", 2298):          `more than 2299 characters`,
		strings.Repeat("0=A;", 768):               `more than 2299 characters`,
		"0=" + strings.Repeat("\U0001f600", 2297): `names have at most 111 letters`,
		"0=a-b;1=0;2=a-b":                         `the name is the index of another rule; "0=a-b": names`,
	} {
		legal := a.mustAgree(value, 3)
		_, err := a.dryRun(value, 3)
		if legal != (wantText == "") || !legal && (err == nil || !strings.Contains(err.Error(), wantText)) {
			t.Errorf("%.100q: %v, which should say %q", value, err, wantText)
		}
	}
	if a.mustAgree("0=A", 0) {
		t.Error("a name without a rule is taken")
	}
	for _, reason := range internalReasons {
		if a.mustAgree("1="+reason, 3) {
			t.Errorf("%s is taken as a name", reason)
		}
	}
}

// The policy and package rulename accept the same values, with a focus on almost valid ones.
// Requirements: PFN-24, PFN-26
func TestAdmissionAgreesWithRulename(t *testing.T) {
	t.Parallel()
	a := newAdmission(t)
	random := rand.New(rand.NewPCG(4443, 0))
	legal, illegal := 0, 0
	for range 500 {
		rules := []int{0, 1, 3, 3, 3, 12, 20}[random.IntN(7)]
		if a.mustAgree(randomValue(random, rules), rules) {
			legal++
		} else {
			illegal++
		}
	}
	if legal < 100 || illegal < 100 {
		t.Errorf("the values are too much alike: %d are legal, %d are not", legal, illegal)
	}
	for _, c := range boundaries() {
		assert.Equalf(t, a.mustAgree(c.value, 20), c.legal, "a value of %d bytes, %.30q and so on, is legal", len(c.value), c.value)
	}
}

type boundary struct {
	value string
	legal bool
}

// boundaries returns the largest values, and the most expensive ones for the policy.
func boundaries() []boundary {
	full := make(rulename.Names, rulename.MaxRules)
	for i := range full {
		full[i] = fmt.Sprintf("%s%02d", strings.Repeat("x", rulename.MaxLen-2), i)
	}
	digits := make(rulename.Names, rulename.MaxRules)
	for i := range digits {
		digits[i] = fmt.Sprintf("%0*d", rulename.MaxLen, i)
	}
	same := strings.Repeat(";1="+strings.Repeat("0", 110)+"1", 20)
	return []boundary{
		{rulename.Format(full), true},
		{rulename.Format(digits), true},
		{same[1:], false},
		{strings.Repeat(";", 19), false},
		{strings.Repeat(";", rulename.MaxSize), false},
		{strings.Repeat("0=;", 765) + "0=", false},
		{"0=" + strings.Repeat("x", rulename.MaxSize-2), false},
		{"0=" + strings.Repeat("x", rulename.MaxSize-1), false},
		{"0=" + strings.Repeat("é", rulename.MaxSize-2), false},
		{"0=" + strings.Repeat("x", 200_000), false},
		{strings.Repeat("9", 2000) + "=A", false},
		{"0=" + strings.Repeat("9", 111), true},
		{"1=" + strings.Repeat("0", 111), false},
	}
}

// randomValue returns names from a small set, so that they collide, with up to two mistakes.
func randomValue(random *rand.Rand, rules int) string {
	some := []string{
		"A", "a", "B", "ExitCode2", "a,b:c", "_", ",x", "x_", "0", "1", "2", "01", "002", "19", "20", "0000000000000000000002",
		"4294967297", "18446744073709551617", "FailedIndexes", "JobResumed", "PodFailurePolicy_", "", "",
	}
	names := make(rulename.Names, rules)
	for i := range names {
		if random.IntN(3) > 0 {
			names[i] = some[random.IntN(len(some))] + []string{"", string(rune('A' + i))}[random.IntN(2)]
		}
	}
	value := []rune(rulename.Format(names))
	for range max(0, random.IntN(4)-1) {
		at := random.IntN(len(value) + 1)
		wrong := []rune("=;;,:_-. 0123Aé\n\t+\"")
		switch {
		case random.IntN(2) == 0 || at == len(value):
			value = slices.Insert(value, at, wrong[random.IntN(len(wrong))])
		case random.IntN(2) == 0:
			value[at] = wrong[random.IntN(len(wrong))]
		default:
			value = slices.Delete(value, at, at+1)
		}
	}
	return string(value)
}

// Names cannot change in any way; everything else can.
// Requirements: PFN-26
func TestAdmissionRejectsChangedNames(t *testing.T) {
	t.Parallel()
	var old *batchv1.Job
	a := newAdmission(t, func(a *admission) { old = a.mustCreate("old", "0=a-b", 1) })
	bare := named("bare", newJob(withRules(1), suspended))
	with, without := a.mustCreate("with", "0=A", 1), a.mustStore(bare)
	empty, none := a.mustCreate("empty", "", 1), a.mustCreate("none", "0=A", -1)
	for _, c := range []struct {
		what  string
		job   *batchv1.Job
		value *string
		legal bool
	}{
		{"changed", with, ptr.To("0=B"), false},
		{"changed to something invalid", with, ptr.To("0=a-b"), false},
		{"changed to the same in other words", with, ptr.To("0=A;"), false},
		{"emptied", with, ptr.To(""), false},
		{"removed", with, nil, false},
		{"left as it is", with, ptr.To("0=A"), true},
		{"added", without, ptr.To("0=A"), false},
		{"added, empty", without, ptr.To(""), false},
		{"still not there", without, nil, true},
		{"filled in", empty, ptr.To("0=A"), false},
		{"removed, empty", empty, nil, false},
		{"put right where no policy was", old, ptr.To("0=A"), false},
		{"removed where no policy was", old, nil, false},
		{"changed without a podFailurePolicy", none, ptr.To("0=B"), true},
		{"removed without a podFailurePolicy", none, nil, true},
		{"added without a podFailurePolicy", none, ptr.To("x"), true},
	} {
		for _, subresource := range []string{"", "status"} {
			err := a.annotate(c.job, subresource, c.value)
			if c.legal && err != nil || !c.legal && !isRejection(err, "cannot be added, changed or removed") {
				t.Errorf("%s in Job %s, subresource %q: %v, legal: %v", c.what, c.job.Name, subresource, err, c.legal)
			}
		}
	}
	for _, job := range []*batchv1.Job{with, without, empty, none, old} {
		a.mustTakeOtherChanges(job)
	}
}

// Names are checked for every way to create or write a Job: with server-side apply, with a generated name, and when a
// client replaces the whole object.
// Requirements: PFN-26
func TestAdmissionChecksEveryWayToCreate(t *testing.T) {
	t.Parallel()
	a := newAdmission(t)
	for way, make := range creations {
		for value, legal := range map[string]bool{"0=A": true, "0=a-b": false} {
			name := fmt.Sprintf("%s-%v", strings.ReplaceAll(strings.ToLower(way), " ", "-"), legal)
			_, err := make(t.Context(), a.client, a.namespace, annotated(name, value, 1))
			if legal && err != nil || !legal && !isRejection(err, "0=ExitCode2") {
				t.Errorf("%s of %q: %v", way, value, err)
			}
		}
	}
	if _, err := applyJob(t.Context(), a.client, a.namespace, annotated("server-side-apply-true", "0=B", 1)); !isRejection(err, "cannot be added, changed or removed") {
		t.Errorf("other names applied: %v", err)
	}
	jobs := a.client.BatchV1().Jobs(a.namespace)
	job := a.mustCreate("replaced", "0=A", 1)
	job.Annotations[rulename.Annotation] = "0=B"
	if _, err := jobs.Update(t.Context(), job, metav1.UpdateOptions{}); !isRejection(err, "cannot be added, changed or removed") {
		t.Errorf("other names by an update: %v", err)
	}
	job.Annotations = nil
	if _, err := jobs.UpdateStatus(t.Context(), job, metav1.UpdateOptions{}); !isRejection(err, "cannot be added, changed or removed") {
		t.Errorf("no names by an update of the status: %v", err)
	}
}

// The policies match all resources through which a Job can be written.
// Requirements: PFN-26
func TestAdmissionKnowsAllSubresources(t *testing.T) {
	t.Parallel()
	list, err := newClient(t, apiServer.Config, "user").Discovery().ServerResourcesForGroupVersion("batch/v1")
	assert.NoError(t, err)
	var found []string
	for _, resource := range list.APIResources {
		if strings.HasPrefix(resource.Name, "jobs") {
			found = append(found, resource.Name)
		}
	}
	if slices.Sort(found); !slices.Equal(found, []string{"jobs", "jobs/status"}) {
		t.Errorf("the API server has %q: rule-names-unchanged.yaml should name those that can be updated", found)
	}
}

// mustTakeOtherChanges makes the changes to a Job that users and controllers make.
func (a *admission) mustTakeOtherChanges(job *batchv1.Job) {
	a.t.Helper()
	for subresource, fields := range map[string]map[string]any{
		"": {
			"metadata": map[string]any{"labels": map[string]any{"a": "b"}, "annotations": map[string]any{"a": "b"}, "finalizers": []string{foreignFinalizer}},
			"spec":     map[string]any{"parallelism": 7},
		},
		"status": {"status": map[string]any{"failed": 1}},
	} {
		if err := a.patch(job, subresource, fields); err != nil {
			a.t.Errorf("another change of Job %s: %v", job.Name, err)
		}
	}
	jobs := a.client.BatchV1().Jobs(a.namespace)
	if err := jobs.Delete(a.t.Context(), job.Name, metav1.DeleteOptions{}); err != nil {
		a.t.Errorf("deleting Job %s: %v", job.Name, err)
	}
	if err := a.patch(job, "", map[string]any{"metadata": map[string]any{"finalizers": nil}}); err != nil {
		a.t.Errorf("removing the finalizer of Job %s: %v", job.Name, err)
	}
	if _, err := jobs.Get(a.t.Context(), job.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		a.t.Errorf("Job %s is not gone: %v", job.Name, err)
	}
}

// Valid but odd names are accepted with one warning, and everything that does not concern the policies without one.
// Requirements: PFN-12, PFN-21
func TestAdmissionWarnsOfOddNames(t *testing.T) {
	t.Parallel()
	a := newAdmission(t)
	for _, c := range []struct {
		value    string
		rules    int
		wantText string
	}{
		{"0=ExitCode2;2=OOMKilled", 3, ""},
		{"", 3, ""},
		{"0=", 3, ""},
		{"", -1, ""},
		{"0=exit_code_2;1=Fine;2=2fast", 3, `convention: "exit_code_2", "2fast"`},
		{"0=ExitCode2", -1, "the Job has no podFailurePolicy"},
		{"0=exit_code_2", -1, "the Job has no podFailurePolicy"},
		{"a-b;\n", -1, "the Job has no podFailurePolicy"},
		{strings.Repeat(";", 200_000), -1, "the Job has no podFailurePolicy"},
	} {
		given, err := a.dryRun(c.value, c.rules)
		assert.NoError(t, err, c.value, c.rules)
		if c.wantText == "" && len(given) != 0 || c.wantText != "" && (len(given) != 1 || !strings.Contains(given[0], c.wantText)) {
			t.Errorf("%.100q for %d rules: warnings %q, want one that says %q", c.value, c.rules, given, c.wantText)
		}
	}
	a.warnings.texts = nil
	a.mustStore(named("bare", newJob(suspended)))
	a.mustStore(named("rules", newJob(withRules(3), suspended)))
	assert.Equalf(t, len(a.warnings.texts), 0, "warnings about Jobs without names: %q", a.warnings.texts)
}
