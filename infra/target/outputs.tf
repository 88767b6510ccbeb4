output "plan_role_arn" {
  description = "The ARN of the role for plans: template.yaml's PlanTargetRoleArn, or plan_role of an environment in lockstep.hcl."
  value       = aws_iam_role.provider["plan"].arn
}

output "apply_role_arn" {
  description = "The ARN of the role for applies: template.yaml's ApplyTargetRoleArn, or apply_role of an environment."
  value       = aws_iam_role.provider["apply"].arn
}
