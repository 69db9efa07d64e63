package lint

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// Requirements: JOB-40
func TestInvalidContainerNamesAreReported(t *testing.T) {
	for containers, want := range map[string][]string{
		"containers: [{name: Main, image: i}]":                                            {"!error container-name-invalid spec.template.spec.containers[0].name"},
		"containers: [{name: a.b, image: i}]":                                             {"!error container-name-invalid spec.template.spec.containers[0].name"},
		"containers: [{name: a, image: i}, {name: b, image: i}, {name: a, image: i}]":     {"!error container-name-twice spec.template.spec.containers[2].name"},
		"containers: [{name: a, image: i}]\n      initContainers: [{name: a, image: i}]":  {"!error container-name-twice spec.template.spec.initContainers[0].name"},
		"containers: [{name: a, image: i}]\n      initContainers: [{name: B_, image: i}]": {"!error container-name-invalid spec.template.spec.initContainers[0].name"},
		"containers: [{name: a, image: i}]\n      initContainers: [{name: b}, {image: i}]": {
			"!error container-without-image spec.template.spec.initContainers[0].image", "!error container-without-name spec.template.spec.initContainers[1].name",
		},
		"containers: [{name: a, image: i}, {name: b, image: i}]": nil,
	} {
		object := strings.Replace(base, "containers: [{name: main, image: i}, {name: side, image: i}]", containers, 1)
		assert.SlicesEqual(t, look(t, object, nil), want, containers)
	}
}

// The API server sets these labels itself; an existing Job has them (JOB-40).
func TestReservedTemplateLabelsAreReported(t *testing.T) {
	const uidLabel, nameLabel = "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name"
	reserved := func(label string) []string {
		return []string{"!error template-label-reserved spec.template.metadata.labels[" + label + "]"}
	}
	fromCluster := []string{"!error from-cluster metadata.uid"}
	for _, c := range []struct {
		metadata, labels, spec string
		want                   []string
	}{
		{"{name: a}", "{controller-uid: x}", "", reserved("controller-uid")},
		{"{name: a}", "{controller-uid: ''}", "", reserved("controller-uid")},
		{"{name: a}", "{" + uidLabel + ": x}", "", reserved(uidLabel)},
		{"{name: a}", "{job-name: b}", "", reserved("job-name")},
		{"{name: a}", "{" + nameLabel + ": b}", "", reserved(nameLabel)},
		{"{generateName: a-}", "{job-name: ''}", "", reserved("job-name")},
		{"{name: a}", "{job-name: a, " + nameLabel + ": a}", "", nil},
		{"{name: a, uid: u1}", "{job-name: a, controller-uid: u1, " + uidLabel + ": u1}", "selector: {matchLabels: {" + uidLabel + ": u1}}", fromCluster},
		{"{name: a, uid: u1}", "{controller-uid: u2}", "", append(slices.Clone(fromCluster), reserved("controller-uid")...)},
		{"{name: a}", "{app: b, batch.kubernetes.io/other: x}", "", nil},
		{"{name: a}", "{job-name: b}", "manualSelector: true\n  selector: {matchLabels: {job-name: b}}", []string{"warning selector-manual spec.manualSelector"}},
	} {
		object := strings.Replace(base, "{name: a}", c.metadata, 1)
		object = strings.Replace(object, "  template:\n", "  template:\n    metadata: {labels: "+c.labels+"}\n", 1) + "  " + c.spec
		assert.SlicesEqual(t, look(t, object, nil), c.want, c.metadata, c.labels)
	}
	cron := cronJob(`schedule: "@daily"`)
	cron = strings.Replace(cron, "template:\n        spec", "template:\n        metadata: {labels: {job-name: a}}\n        spec", 1)
	if got := look(t, cron, nil); !slices.Equal(got, []string{"error template-label-reserved spec.jobTemplate.spec.template.metadata.labels[job-name]"}) {
		t.Errorf("%q", got)
	}
}

// A selector without manualSelector is accepted if it uses labels that the API server sets itself.
// Requirements: LNT-02
func TestSelectorOnGeneratedLabelsIsAccepted(t *testing.T) {
	rejected := []string{"!error selector-not-manual spec.selector"}
	checkSpecs(t, []specCase{
		{"selector: {matchLabels: {job-name: a}}", nil},
		{"selector: {matchLabels: {batch.kubernetes.io/job-name: a}}", nil},
		{"selector: {matchExpressions: [{key: job-name, operator: Exists}]}", nil},
		{"selector: {matchLabels: {job-name: b}}", rejected},
		{"selector: {matchLabels: {app: a}}", rejected},
		{"selector: {matchExpressions: [{key: job-name, operator: is}]}", []string{"!error label-selector-invalid spec.selector.matchExpressions[0].operator"}},
	})
}

// The API server does not check the metadata of a CronJob's Jobs before the CronJob creates one.
// Requirements: LNT-01
func TestLabelsOfTheObjectAreChecked(t *testing.T) {
	job := strings.Replace(base, "{name: a}", "{name: a, labels: {app: b c}}", 1)
	assert.SlicesEqual(t, look(t, job, nil), []string{"!error label-invalid metadata.labels[app]"})
	cron := strings.Replace(cronJob(`schedule: "@daily"`), "jobTemplate:\n", "jobTemplate:\n    metadata: {labels: {app: b c}}\n", 1)
	assert.SlicesEqual(t, look(t, cron, nil), []string{"error label-invalid spec.jobTemplate.metadata.labels[app]"})
}
