package manifest

// ClaimedVolumes returns the names of the volumes that JobSet adds to the pods of all its Jobs: those of
// spec.volumeClaimPolicies. It returns none for other kinds.
func (o *Object) ClaimedVolumes() []string {
	var names []string
	policies, _ := fields(o.Content["spec"])["volumeClaimPolicies"].([]any)
	for _, policy := range policies {
		templates, _ := fields(policy)["templates"].([]any)
		for _, template := range templates {
			names = append(names, text(fields(fields(template)["metadata"])["name"]))
		}
	}
	return names
}
