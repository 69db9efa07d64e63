//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

func (c *cluster) auditPolicy() string { return filepath.Join(c.dir, "audit-policy.json") }

func (c *cluster) writeAuditPolicy() error {
	if c.audited == "" {
		return nil
	}
	policy, err := json.Marshal(map[string]any{
		"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": []string{"ResponseStarted"}, "rules": auditRules(c.audited),
	})
	if err != nil {
		return err
	}
	return os.WriteFile(c.auditPolicy(), policy, 0o644)
}

// everybody means all users in --audit.
const everybody = "*"

// auditRules returns the rules of the audit policy; the first matching rule decides.
func auditRules(user string) []map[string]any {
	if user == everybody {
		return callRules()
	}
	users, answered := []string{user}, []string{"RequestReceived"}
	pods := []map[string]any{{"resources": []string{"pods"}}}
	return []map[string]any{
		// Pods that the user creates, with their generated names.
		{"level": "RequestResponse", "omitManagedFields": true, "users": users, "verbs": []string{"create"}, "resources": pods, "omitStages": answered},
		// Changes of pods by any user, at the request and at the response: no stored version shows who made a change.
		{"level": "Metadata", "verbs": []string{"patch", "update"}, "resources": pods},
		// All other requests of the user.
		{"level": "Metadata", "users": users, "omitStages": answered},
		{"level": "None"},
	}
}

// callRules log the writes of pods, Jobs and Job statuses by all users, each once, at the response: the entry also has
// the time of the request.
func callRules() []map[string]any {
	return []map[string]any{
		{
			"level": "Metadata", "verbs": []string{"create", "patch", "update", "delete"}, "omitStages": []string{"RequestReceived"},
			"resources": []map[string]any{{"resources": []string{"pods"}}, {"group": "batch", "resources": []string{"jobs", "jobs/status"}}},
		},
		{"level": "None"},
	}
}
