package testcluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// The account that config/default installs.
const (
	SystemNamespace = "batchjob-system"
	SystemAccount   = "batchjob-controller"
	// SystemUser is the controller's user name in the API server.
	SystemUser = "system:serviceaccount:" + SystemNamespace + ":" + SystemAccount
)

// Permission allows a verb on a resource, in a namespace or everywhere.
type Permission struct{ Verb, Group, Resource, Namespace string }

func (p Permission) String() string {
	text := p.Verb + " " + p.Resource
	if p.Group != "" {
		text += "." + p.Group
	}
	if p.Namespace != "" {
		text += " in " + p.Namespace
	}
	return text
}

// Granted returns the permissions that config/default gives to the controller's account.
func Granted(kubectl, root string) (sets.Set[Permission], error) {
	output, err := exec.Command(kubectl, "kustomize", filepath.Join(root, "config", "default")).Output()
	if err != nil {
		return nil, fmt.Errorf("kubectl kustomize config/default: %w", err)
	}
	rules := map[string][]rbacv1.PolicyRule{} // By kind/namespace/name.
	var bindings []rbacv1.RoleBinding         // Bindings of cluster roles are handled alike.
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(output)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var kind metav1.TypeMeta
		if err == nil {
			err = yaml.Unmarshal(document, &kind)
		}
		if err != nil {
			return nil, err
		}
		switch kind.Kind {
		case "Role", "ClusterRole":
			var role rbacv1.Role
			if err := yaml.Unmarshal(document, &role); err != nil {
				return nil, err
			}
			rules[kind.Kind+"/"+role.Namespace+"/"+role.Name] = role.Rules
		case "RoleBinding", "ClusterRoleBinding":
			var binding rbacv1.RoleBinding
			if err := yaml.Unmarshal(document, &binding); err != nil {
				return nil, err
			}
			bindings = append(bindings, binding)
		}
	}
	return permissionsOf(rules, bindings), nil
}

func permissionsOf(rules map[string][]rbacv1.PolicyRule, bindings []rbacv1.RoleBinding) sets.Set[Permission] {
	all := sets.New[Permission]()
	subject := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: SystemAccount, Namespace: SystemNamespace}
	for _, binding := range bindings {
		if !slices.Contains(binding.Subjects, subject) {
			continue
		}
		role := binding.RoleRef.Kind + "//" + binding.RoleRef.Name
		if binding.RoleRef.Kind == "Role" {
			role = "Role/" + binding.Namespace + "/" + binding.RoleRef.Name
		}
		for _, rule := range rules[role] {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all.Insert(Permission{verb, group, resource, binding.Namespace})
					}
				}
			}
		}
	}
	return all
}

// unprovable maps permissions whose use no log shows to the test that shows it.
var unprovable = map[Permission]string{
	{"update", "batch", "jobs/finalizers", ""}: "TestFinalizersPermissionIsNeededToCreatePods",
}

// usage holds the permissions that the account used, and the requests that were rejected.
type usage struct {
	// disturbed reports whether the API server was disturbed at a time, and rejected requests that it allows: after a start, it has not
	// read all roles yet.
	disturbed func(time.Time) bool
	used      sets.Set[Permission]
	refused   sets.Set[string]
}

func newUsage(disturbed func(time.Time) bool) *usage {
	return &usage{disturbed, sets.New[Permission](), sets.New[string]()}
}

func (u *usage) note(e auditEvent) {
	if e.Stage == arrival || e.User.Username != SystemUser {
		return
	}
	if e.Annotations["authorization.k8s.io/decision"] != "allow" && !u.disturbed(e.At) {
		u.refused.Insert(e.Verb + " " + e.RequestURI)
	}
	if ref := e.ObjectRef; ref != nil {
		u.used.Insert(Permission{e.Verb, ref.APIGroup, ref.resource(), ""}, Permission{e.Verb, ref.APIGroup, ref.resource(), ref.Namespace})
	}
}

// misfits compares the account's permissions with its requests (JOB-48): no request was rejected, and every permission
// was used.
func (u *usage) misfits(may sets.Set[Permission]) (problems []string) {
	for what := range u.refused {
		problems = append(problems, "JOB-48: the controller's account was refused "+what)
	}
	for _, p := range may.UnsortedList() {
		if !u.used.Has(p) && unprovable[p] == "" {
			problems = append(problems, "JOB-48: config/default lets the controller "+p.String()+", and it never did")
		}
	}
	slices.Sort(problems)
	return problems
}

// permissionVerdict reports whether the account of config/default has exactly the permissions that it needs. A missing
// permission is a problem in any run, an unused one only in a run of all tests.
func (c *Cluster) permissionVerdict() []string {
	may, err := Granted(c.Kubectl, c.Root)
	if err != nil {
		return []string{err.Error()}
	}
	did := newUsage(c.Disturbed)
	_, err = auditLog(filepath.Join(c.Dir, "audit.log"), 0, did.note)
	switch {
	case err != nil:
		return []string{err.Error()}
	case len(may) == 0 || len(did.used) == 0:
		return []string{fmt.Sprintf("JOB-48: the controller's account has %d permissions, and used %d", len(may), len(did.used))}
	case !runsAll():
		return slices.DeleteFunc(did.misfits(may), func(p string) bool { return !strings.Contains(p, "refused") })
	}
	return did.misfits(may)
}
