package create

import (
	"slices"
	"strings"
	"testing"

	"github.com/batchjob-dev/kubectl-batchjob/internal/cli/shared/cmdutil"
	"github.com/batchjob-dev/kubectl-batchjob/test/kit/clitest"
)

// mixed is a rendered chart: the objects that a Job needs, and the Job.
const mixed = `apiVersion: v1
kind: ServiceAccount
metadata: {name: runner, creationTimestamp: null}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
` + clitest.PlainJob

const skippedNote = "skipped 2 objects of other kinds: ServiceAccount/runner, ClusterRole/reader; create them with --all-kinds\n"

// Requirements: CLI-60
func TestCreateSkipsOtherKinds(t *testing.T) {
	path := clitest.WriteManifest(t, mixed)
	for _, args := range []string{"", "--dry-run=server", "--dry-run=client", "--dry-run=client -o name", "-o yaml"} {
		api := newCreations(t)
		got := api.run(t, append([]string{"-f", path}, strings.Fields(args)...)...)
		if got.Code != cmdutil.ExitDone || got.ErrOut != skippedNote || strings.Contains(got.Out, "runner") || len(api.requests) > 1 {
			t.Errorf("%s: exit %d, %q, %q, %q", args, got.Code, api.requests, got.Out, got.ErrOut)
		}
	}
	one := clitest.WriteManifest(t, clitest.PlainJob+"---\napiVersion: v1\nkind: \"Pod\\e[31m\"\n")
	if got := program.Run(t, nil, "create", "--dry-run=client", "-f", one); got.ErrOut != `skipped 1 object of another kind: Pod\x1b[31m; create it with --all-kinds`+"\n" {
		t.Errorf("%q", got.ErrOut)
	}
	many := clitest.WriteManifest(t, clitest.PlainJob+strings.Repeat("---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n", 7))
	if got := program.Run(t, nil, "create", "--dry-run=client", "-f", many); got.ErrOut != "skipped 7 objects of other kinds: Pod/p, Pod/p, Pod/p, Pod/p, Pod/p, and 2 more; create them with --all-kinds\n" {
		t.Errorf("%q", got.ErrOut)
	}
}

// Requirements: CLI-60. The API server names the resources, and not all of them are in a namespace.
func TestCreateAllKindsInOrder(t *testing.T) {
	api := newCreations(t)
	got := api.run(t, "-f", clitest.WriteManifest(t, mixed), "--all-kinds")
	const query = "?fieldManager=kubectl-batchjob&fieldValidation=Strict"
	want := []string{"POST /api/v1/namespaces/ns1/serviceaccounts" + query, "POST /apis/rbac.authorization.k8s.io/v1/clusterroles" + query, "POST /apis/batch/v1/namespaces/ns1/jobs" + query}
	if got.Code != cmdutil.ExitDone || !slices.Equal(api.requests, want) || got.ErrOut != "" ||
		got.Out != "serviceaccount/runner created\nclusterrole.rbac.authorization.k8s.io/reader created\njob.batch/a created\n" {
		t.Errorf("exit %d, %q, %q, %q", got.Code, api.requests, got.Out, got.ErrOut)
	}
	unknown := clitest.WriteManifest(t, "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n---\n"+clitest.PlainJob)
	got = api.run(t, "-f", unknown, "--all-kinds")
	if got.Code != cmdutil.ExitError || got.Out != "job.batch/a created\n" ||
		got.ErrOut != "error: "+unknown+":2:7: the cluster has no kind Widget in example.com/v1; install its CustomResourceDefinition, or use another context\n" {
		t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
	elsewhere := clitest.WriteManifest(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: x}\n---\n"+clitest.PlainJob)
	if got := api.run(t, "-f", elsewhere, "--all-kinds", "-n", "y"); got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, `job.yaml:3:32: the namespace from the provided object "x"`) {
		t.Errorf("exit %d, %q", got.Code, got.ErrOut)
	}
}

// Requirements: CLI-60. A pipeline to kubectl apply gets all objects, unchanged and in order; but no API server knows the file
// that kustomize builds from.
func TestDryRunPassesOtherKindsThrough(t *testing.T) {
	path := clitest.WriteManifest(t, mixed+"---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n")
	got := program.Run(t, nil, "create", "--dry-run=client", "-f", path, "-o", "yaml")
	const want = `apiVersion: v1
kind: ServiceAccount
metadata:
  creationTimestamp: null
  name: runner
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: reader
rules:
- apiGroups:
  - ""
  resources:
  - pods
  verbs:
  - get
---
apiVersion: batch/v1
kind: Job
`
	if got.Code != cmdutil.ExitDone || !strings.HasPrefix(got.Out, want) || got.ErrOut != "skipped 1 object of another kind: Kustomization; build it with -k\n" {
		t.Errorf("exit %d, %q, %s", got.Code, got.ErrOut, got.Out)
	}
	got = program.Run(t, nil, "create", "--dry-run=client", "-f", clitest.WriteManifest(t, mixed), "-o", "json", "-n", "x")
	if strings.Count(got.Out, `"namespace"`) != 1 || got.ErrOut != "note: -n does not change objects of other kinds: ServiceAccount/runner, ClusterRole/reader; apply all with: kubectl apply -n x -f -\n" {
		t.Errorf("%q, %s", got.ErrOut, got.Out)
	}
}

// Requirements: CLI-61
func TestCreateBuildsKustomizations(t *testing.T) {
	folder := clitest.WriteKustomization(t, mixed)
	got := program.Run(t, nil, "create", "--dry-run=client", "-k", folder, "-o", "name")
	if got.Code != cmdutil.ExitDone || got.Out != "job.batch/prod-a\n" || !strings.HasPrefix(got.ErrOut, "skipped 2 objects of other kinds: ServiceAccount/prod-runner, ClusterRole/prod-reader;") {
		t.Errorf("exit %d, %q, %q", got.Code, got.Out, got.ErrOut)
	}
	folder = clitest.WriteKustomization(t, clitest.PlainJob+"  backoffLimit: -1\n")
	got = program.Run(t, nil, "create", "--dry-run=client", "-k", folder)
	if want := "error: Job/prod-a (kustomization " + folder + "): the API server would reject this: backoffLimit is -1; use 0 or more\n"; got.Code != cmdutil.ExitError || got.ErrOut != want {
		t.Errorf("exit %d, %q", got.Code, got.ErrOut)
	}
	folder = clitest.WriteKustomization(t, "")
	if got = program.Run(t, nil, "create", "--dry-run=client", "-k", folder); got.Code != cmdutil.ExitError || !strings.Contains(got.ErrOut, "kustomization "+folder) {
		t.Errorf("exit %d, %q", got.Code, got.ErrOut)
	}
	program.Rejects(t, nil, "create", map[string]string{
		"-k a -f b": "only one of -f and -k can be used", "-k a -R": "-R cannot be used with -k", "": "or a kustomization with -k",
	})
	if _, directive := program.Complete(t, "create", "-k", ""); directive != ":16" {
		t.Errorf("-k completes %s, not folders", directive)
	}
}
