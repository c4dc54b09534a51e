// The receiver templates that come with cardpoll: deploy/receivers, as texts. Used by load-receivers.ts.
import bark from '../../../deploy/receivers/bark.yaml';
import dingtalk from '../../../deploy/receivers/dingtalk.yaml';
import discord from '../../../deploy/receivers/discord.yaml';
import feishu from '../../../deploy/receivers/feishu.yaml';
import googlechat from '../../../deploy/receivers/googlechat.yaml';
import gotify from '../../../deploy/receivers/gotify.yaml';
import matrix from '../../../deploy/receivers/matrix.yaml';
import mattermost from '../../../deploy/receivers/mattermost.yaml';
import ntfy from '../../../deploy/receivers/ntfy.yaml';
import opsgenie from '../../../deploy/receivers/opsgenie.yaml';
import pagerduty from '../../../deploy/receivers/pagerduty.yaml';
import pushover from '../../../deploy/receivers/pushover.yaml';
import rocketchat from '../../../deploy/receivers/rocketchat.yaml';
import slack from '../../../deploy/receivers/slack.yaml';
import teams from '../../../deploy/receivers/teams.yaml';
import telegram from '../../../deploy/receivers/telegram.yaml';
import wecom from '../../../deploy/receivers/wecom.yaml';
import zulip from '../../../deploy/receivers/zulip.yaml';

/** By name. */
export const SHIPPED_RECEIVERS: Readonly<Record<string, string>> = {
  ...{
    dingtalk,
    wecom,
    feishu,
    slack,
    bark,
    discord,
    googlechat,
    gotify,
    matrix,
    mattermost,
    ntfy,
    opsgenie,
  },
  ...{ pagerduty, pushover, rocketchat, teams, telegram, zulip },
};
