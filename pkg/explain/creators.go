package explain

import (
	"cmp"
	_ "embed" // the table
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/batchjob-dev/kubectl-batchjob/pkg/lazyregexp"
)

// creator is a program that creates Jobs, a row of creators.txt, which describes the fields.
type creator struct {
	name                        ToolName
	label, owner, source, owned string
	runs                        bool
	settings                    Settings
}

//go:embed creators.txt
var creatorRows string

// creators returns the programs of creators.txt.
var creators = sync.OnceValue(func() (all []creator) {
	for line := range strings.Lines(creatorRows) {
		columns := strings.Split(strings.TrimSpace(line), "|")
		for i := range columns {
			columns[i] = strings.TrimSpace(columns[i])
		}
		if columns[0] == "" || columns[0][0] == '#' {
			continue
		}
		c := creator{name: ToolName(columns[0]), label: columns[1], owner: columns[2], source: columns[3], owned: columns[4], runs: columns[5] == "run", settings: Settings{}}
		for setting := range strings.SplitSeq(columns[6], ";") {
			list, field, _ := strings.Cut(strings.TrimSpace(setting), ": ")
			for change := range strings.SplitSeq(list, ", ") {
				c.settings[Change(change)] = field
			}
		}
		all = append(all, c)
	}
	return all
})

// Change is what of a Job has to change, as creators.txt names it; "" if that is unknown.
type Change string

// The changes.
const (
	ToImage       Change = "image"
	ToResources   Change = "resources"
	ToTolerations Change = "tolerations"
	ToNodes       Change = "nodes"
	ToAccount     Change = "account"
	ToSecurity    Change = "security"
	ToCommand     Change = "command"
	ToRetries     Change = "retries"
)

// Settings are the fields of a source of Jobs with which they are changed.
type Settings map[Change]string

// ManagedByLabel is the common label for the program that creates an object, and createdByLabel an older one.
const (
	ManagedByLabel = "app.kubernetes.io/managed-by"
	createdByLabel = "app.kubernetes.io/created-by"
)

// CreatorOf returns the program that creates Jobs with these labels and this owner, which may be nil; nil if none is known.
func CreatorOf(labels map[string]string, o *Owner) *Tool {
	for _, c := range creators() {
		source, isIn := strings.ReplaceAll(c.source, "{value}", labels[c.label]), c.isIn(labels)
		if o != nil {
			owner, both := strings.CutPrefix(c.owner, "+")
			isIn = owner != "" && (isIn || !both) && strings.HasPrefix(strings.Split(o.APIVersion, "/")[0]+"/"+o.Kind, owner)
			source = strings.ReplaceAll(c.owned, "{owner}", o.Kind+" "+o.Name)
		}
		if !isIn {
			continue
		}
		if before, rest, found := strings.Cut(source, "{"); found {
			key, _, _ := strings.Cut(rest, "}")
			source = strings.TrimSpace(before + labels[key])
		}
		return &Tool{Name: c.name, Source: source, Runs: c.runs, Settings: c.settings}
	}
	return nil
}

func (c *creator) isIn(labels map[string]string) bool {
	for key, value := range labels {
		if key == c.label || strings.EqualFold(key+"="+value, c.label) || strings.HasSuffix(c.label, "/") && strings.HasPrefix(key, c.label) {
			return true
		}
	}
	return false
}

// UnknownCreatorOf returns the program that a common label names, nil if it names none.
func UnknownCreatorOf(labels map[string]string) *Tool {
	switch name := cmp.Or(labels[ManagedByLabel], labels[createdByLabel]); strings.ToLower(name) {
	case "", "kubectl", "manual", "none", "controller-manager":
		return nil
	default:
		t := &Tool{Name: ToolName(name), Source: "the object or the configuration that " + name + " creates it from"}
		if from := originIn(labels); from != "" {
			t.Source = "the object that " + name + " creates it from (label " + from + ")"
		}
		return t
	}
}

// origin matches the keys of labels with which operators name the object that they create a Job from, such as example.com/cluster, and
// common the domains of others.
var (
	origin = lazyregexp.New(`/(?:.*-)?(?:cluster|plan|upgrade|backup|restore|database|owner|owned-by|instance|cr|resource)(?:-?[nN]ame)?$`)
	common = lazyregexp.New(`^(?:[\w.-]+\.)?(?:kubernetes\.io|k8s\.io|helm\.sh|fluxcd\.io|argoproj\.io)/`)
)

// originIn returns the label that names the object from which an operator creates the Job, as KEY=VALUE; "" if there is none.
func originIn(labels map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if labels[key] != "" && origin.MatchString(key) && !common.MatchString(key) {
			return key + "=" + labels[key]
		}
	}
	const instance = "app.kubernetes.io/instance"
	if labels[instance] == "" {
		return ""
	}
	return instance + "=" + labels[instance]
}
