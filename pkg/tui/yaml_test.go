package tui

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
)

// someYAML is a manifest of 60 lines.
func someYAML() string {
	lines := []string{
		"apiVersion: batch/v1", "kind: Job", "metadata:", "  annotations:", "    team: ml \u202e\x1b[31m", "  name: three-causes", "spec:", "  completions: 40", "  template:",
		"    spec:", "      containers:", "      - args:", "        - --input=" + strings.Repeat("s3://bucket/shard,", 12), "        image: registry.example/train:3.1", "        name: main",
		"      restartPolicy: Never", "status:", "  conditions:",
	}
	for i := len(lines); i < 60; i++ {
		lines = append(lines, fmt.Sprintf("  - type: Condition%d", i))
	}
	return strings.Join(lines, "\n") + "\n"
}

// reads makes the view read someYAML, and returns the names that were read.
func (b *testbed) reads() *[]string {
	read := &[]string{}
	b.o.YAML = func(_ context.Context, job types.NamespacedName, pod string) (string, error) {
		*read = append(*read, job.Name+"/"+pod)
		return someYAML(), nil
	}
	return read
}

// showYAML presses Y, and lets the YAML be read.
func (b *testbed) showYAML() *[]string {
	b.t.Helper()
	read := b.reads()
	b.do(b.press("Y"))
	b.View()
	return read
}

// Y shows the YAML of the Job, in all sizes and looks.
// Requirements: VIE-14
func TestYAMLFitsEverySize(t *testing.T) {
	for name, keys := range map[string][]string{"yaml": nil, "yaml.searched": {"/", "c", "o", "n", "d", "enter", "n", "n"}} {
		for _, at := range sizes {
			for _, ascii := range []bool{false, true} {
				b := open(t, load(t, "three-causes"), at, func(o *Options) { o.ASCII = ascii })
				b.showYAML()
				b.press(keys...)
				checkFrame(t, b, at)
				if ascii {
					golden(t, name+"."+at.String()+".ascii", b.picture())
				} else {
					golden(t, name+"."+at.String(), b.picture())
				}
			}
		}
	}
}

// Y reads the Job, or the pod under the cursor or on the screen, once; an error is shown in its place.
// Requirements: VIE-14
func TestYAMLOfWhatIsUnderTheCursor(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{80, 24}, nil)
	read := b.showYAML()
	b.press("esc", "5")
	b.do(b.press("Y"))
	pod := b.data.Job.Pods[0].Name
	shows(b, "pod "+pod)
	b.press("esc", "enter")
	b.do(b.press("Y"))
	assert.Equal(t, fmt.Sprint(*read), fmt.Sprint([]string{"three-causes/", "three-causes/" + pod, "three-causes/" + pod}), *read)
	b.press("esc")
	b.o.YAML = func(context.Context, types.NamespacedName, string) (string, error) {
		return "", errors.New("no permission to get pods\x1b[2J")
	}
	b.do(b.press("Y"))
	shows(b, "could not be read: no permission to get pods\\x1b[2J")
	b.press("esc")
	b.o.YAML = nil
	b.press("Y")
	shows(b, "no key Y here")
}

// / searches the YAML, n and N go from match to match, and a bad expression is said to be one.
// Requirements: VIE-14
func TestYAMLIsSearched(t *testing.T) {
	b := open(t, load(t, "three-causes"), size{80, 24}, nil)
	b.showYAML()
	b.press("/")
	b.write("condition(2|5")
	shows(b, "/condition(2|5  no regular expression: missing closing )")
	b.write(").")
	b.press("enter")
	shows(b, "line 1 of 20 with a match", "Condition20")
	b.press("N")
	shows(b, "line 20 of 20 with a match", "Condition59")
	b.press("n", "n")
	shows(b, "line 2 of 20 with a match", "Condition21")
	b.press("/")
	b.write("zz")
	shows(b, "no match")
	b.press("esc", "/")
	for range 20 {
		b.press("backspace")
	}
	b.press("enter")
	hides(b, "match")
	b.press("n")
	shows(b, "no key n here")
}
