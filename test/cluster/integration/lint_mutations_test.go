package integration

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/manifests"
	"github.com/batchjob-dev/kubectl-batchjob/internal/manifest"
	"github.com/batchjob-dev/kubectl-batchjob/pkg/lint"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/assert"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/mutations"
)

// tried is a Job or CronJob of a mutation, with the finding for which lint rejects it, if any.
type tried struct {
	mutation mutations.Mutation
	object   *manifest.Object
	rejects  string
}

// triedObjects returns the Jobs and CronJobs of a mutation, or none if kubectl cannot read it either.
func triedObjects(m mutations.Mutation) []tried {
	if !readable(m.Text) {
		return nil
	}
	objects, problems := manifest.Parse(m.Manifest, []byte(m.Text))
	if len(problems) > 0 {
		return nil
	}
	var all []tried
	for _, o := range objects {
		for _, job := range o.Jobs() {
			if manifest.BatchKind(o) == "JobSet" {
				continue
			}
			names, bad := job.RemoveNames()
			input := manifests.LintInput(job)
			input.Names, input.Incomplete = names, len(bad) > 0
			found := tried{mutation: m, object: o}
			for _, f := range lint.Check(input) {
				if f.Rejected {
					found.rejects = f.Field + ": " + f.Message
				}
			}
			all = append(all, found)
		}
	}
	return all
}

// readable reports whether all documents are YAML, which is faster than finding the mistake.
func readable(text string) bool {
	decoder := yamlv3.NewDecoder(strings.NewReader(text))
	for {
		var node yamlv3.Node
		if err := decoder.Decode(&node); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// send creates the object without storing it, and returns the API server's reason to reject it, or "".
func (s *lintServer) send(ctx context.Context, o *manifest.Object) (string, error) {
	content := runtime.DeepCopyJSON(o.Content)
	if metadata, _ := content["metadata"].(map[string]any); metadata != nil {
		if _, isText := metadata["namespace"].(string); isText {
			metadata["namespace"] = s.into
		}
	}
	err := s.create(ctx, s.into, content)
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
		return err.Error(), nil
	}
	return "", err
}

// Requirements: LNT-10
func TestLintRejectsTheMistakesThatTheAPIServerRejects(t *testing.T) {
	t.Parallel()
	s := newLintServer(t)
	manifests, err := mutations.Manifests()
	assert.NoError(t, err)
	var all []tried
	for _, m := range mutations.All(manifests) {
		all = append(all, triedObjects(m)...)
	}
	answers := inParallel(all, func(one tried) string {
		message, err := s.send(t.Context(), one.object)
		assert.NoError(t, err, one.mutation.Manifest)
		return message
	})
	refused := 0
	for i, one := range all {
		if answers[i] != "" {
			refused++
		}
		switch {
		case answers[i] == "" && one.rejects != "":
			t.Errorf("lint rejects what the API server accepts: %s:%d: %s\n%s\nlint: %s", one.mutation.Manifest, one.mutation.Line, one.mutation.Kind, one.mutation.Is, one.rejects)
		case answers[i] != "" && one.rejects == "":
			t.Errorf("lint accepts what the API server rejects: %s:%d: %s\n%s\nthe API server: %s", one.mutation.Manifest, one.mutation.Line, one.mutation.Kind, one.mutation.Is, answers[i])
		}
	}
	t.Logf("%d mutations, of which the API server rejects %d", len(all), refused)
	if len(all) < 2000 || refused < 1000 {
		t.Errorf("only %d mutations, of which the API server rejects %d", len(all), refused)
	}
}
