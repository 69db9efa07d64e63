package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

const (
	systemNamespace = "batchjob-system"
	systemAccount   = "batchjob-controller"
	// systemUser is the controller's user name in the API server.
	systemUser = "system:serviceaccount:" + systemNamespace + ":" + systemAccount
)

// accountKubeconfig contains only a token of the ServiceAccount of config/default: the controllers of these tests have
// exactly the permissions of an installed one.
var accountKubeconfig string

// install applies config/default. kwok simulates its pods, like all pods here; the working controllers are processes
// with the account's token.
func install(ctx context.Context, root, dir string) error {
	if output, err := exec.CommandContext(ctx, kubectl, "--kubeconfig", kubeconfig, "apply", "-k", filepath.Join(root, "config", "default")).CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply -k config/default: %w\n%s", err, output)
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 60 * 60)}}
	answer, err := client.CoreV1().ServiceAccounts(systemNamespace).CreateToken(ctx, systemAccount, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("asking for a token of %s: %w", systemUser, err)
	}
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		return err
	}
	current := config.Contexts[config.CurrentContext]
	current.Namespace = systemNamespace
	config.AuthInfos[current.AuthInfo] = &clientcmdapi.AuthInfo{Token: answer.Status.Token}
	accountKubeconfig = filepath.Join(dir, "account-kubeconfig")
	return clientcmd.WriteToFile(*config, accountKubeconfig)
}

// permission allows a verb on a resource, in a namespace or everywhere.
type permission struct{ verb, group, resource, namespace string }

func (p permission) String() string {
	text := p.verb + " " + p.resource
	if p.group != "" {
		text += "." + p.group
	}
	if p.namespace != "" {
		text += " in " + p.namespace
	}
	return text
}

// granted returns the permissions that config/default gives to the controller's account.
func granted(root string) (sets.Set[permission], error) {
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

func permissionsOf(rules map[string][]rbacv1.PolicyRule, bindings []rbacv1.RoleBinding) sets.Set[permission] {
	all := sets.New[permission]()
	subject := rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: systemAccount, Namespace: systemNamespace}
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
						all.Insert(permission{verb, group, resource, binding.Namespace})
					}
				}
			}
		}
	}
	return all
}

// auditEvent is a request in the API server's audit log.
type auditEvent struct {
	Stage, Verb, RequestURI, UserAgent string
	User                               auditUser
	ResponseStatus                     struct{ Code int }
	ObjectRef                          *auditRef
	ResponseObject                     *metav1.PartialObjectMetadata // Only set for created pods.
	Annotations                        map[string]string
	At                                 time.Time `json:"requestReceivedTimestamp"`
	AnsweredAt                         time.Time `json:"stageTimestamp"`
}

// disturbed reports whether the API server was disturbed at a time, and rejected requests that it allows: after a start,
// it has not read all roles yet.
var disturbed = func(time.Time) bool { return false }

// auditRef is the object of a request.
type auditRef struct{ Resource, Subresource, Namespace, Name, APIGroup string }

// resource returns the resource with its subresource, named as in a role.
func (r *auditRef) resource() string { return strings.TrimSuffix(r.Resource+"/"+r.Subresource, "/") }

type auditUser struct{ Username string }

// succeeded reports whether the request succeeded.
func (e auditEvent) succeeded() bool { return e.Stage != arrival && e.ResponseStatus.Code/100 == 2 }

// arrival is the stage of a request that the API server has received but not processed.
const arrival = "RequestReceived"

// auditLog visits the events logged after offset from, and returns the new offset. An incomplete last line is left for
// the next call. An event that a killed API server left incomplete is skipped: the next event follows it on the same
// line.
func auditLog(name string, from int64, visit func(auditEvent)) (int64, error) {
	file, err := os.Open(name)
	if err != nil {
		return from, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil {
		return from, err
	} else if info.Size() < from {
		return from, fmt.Errorf("%s has become shorter: the end was at %d", name, from)
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return from, err
	}
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return from, nil
		}
		var event auditEvent
		if err == nil {
			err = json.Unmarshal(line[max(bytes.LastIndex(line, []byte(`{"kind":"Event"`)), 0):], &event)
		}
		if err != nil {
			return from, fmt.Errorf("%s: %w", name, err)
		}
		visit(event)
		from += int64(len(line))
	}
}

// unprovable maps permissions whose use no log shows to the test that shows it.
var unprovable = map[permission]string{
	{"update", "batch", "jobs/finalizers", ""}: "TestFinalizersPermissionIsNeededToCreatePods",
}

// usage holds the permissions that the account used, and the requests that were rejected.
type usage struct {
	used    sets.Set[permission]
	refused sets.Set[string]
}

func newUsage() *usage { return &usage{sets.New[permission](), sets.New[string]()} }

func (u *usage) note(e auditEvent) {
	if e.Stage == arrival || e.User.Username != systemUser {
		return
	}
	if e.Annotations["authorization.k8s.io/decision"] != "allow" && !disturbed(e.At) {
		u.refused.Insert(e.Verb + " " + e.RequestURI)
	}
	if ref := e.ObjectRef; ref != nil {
		u.used.Insert(permission{e.Verb, ref.APIGroup, ref.resource(), ""}, permission{e.Verb, ref.APIGroup, ref.resource(), ref.Namespace})
	}
}

// misfits compares the account's permissions with its requests (JOB-48): no request was rejected, and every permission
// was used.
func (u *usage) misfits(may sets.Set[permission]) (problems []string) {
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
func permissionVerdict(root, dir string) []string {
	may, err := granted(root)
	if err != nil {
		return []string{err.Error()}
	}
	did := newUsage()
	_, err = auditLog(filepath.Join(dir, "audit.log"), 0, did.note)
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
