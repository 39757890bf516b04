/** Joins an agent to the policy that learns: a gateway of its own, which nobody else can reach. */

import type { Role } from '../../core/episode.ts';
import { keyParts } from '../../core/episode-key.ts';
import { TurnwiseError } from '../../core/errors.ts';
import { delegateTo } from '../../engine/delegate.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Agent } from '../../env/agent.ts';
import { AGENT } from '../../env/session.ts';
import type { ConversationRenderer } from '../../model/chat/conversation.ts';
import type { PromptPlayer } from '../../policy/seated.ts';
import type { Play } from '../../rollout/collect.ts';
import { type AgentEpisodesOptions, agentEpisodes } from '../../server/gateway/agents/agent-episodes.ts';
import { userModels } from '../../server/gateway/agents/user-model.ts';
import type { ChatModel } from '../../server/gateway/chat-model.ts';
import { Gateway } from '../../server/gateway/gateway.ts';
import { policyModel } from '../../server/gateway/policy-model.ts';
import { SpendMeter } from '../../server/gateway/spend.ts';
import { teacherModel } from '../../server/gateway/teacher-model.ts';
import { parseUpstream, upstreamModel } from '../../server/gateway/upstream/upstream-model.ts';
import { demonstrator } from '../../synth/demonstrations.ts';
import type { TrainConfig } from '../../train/config/config.ts';

export interface AgentRun {
  readonly gateway: Gateway;
  /** The agent's episodes with a scripted teacher in the policy's place. */
  demonstrations(config: {
    readonly seed: number;
    readonly clone: Pick<TrainConfig['clone'], 'beginnerShare'>;
  }): Play;
  /** The agent's episodes with the policy of a learner. */
  playWith(renderer: ConversationRenderer): (playerOf: (role: Role) => PromptPlayer) => Play;
  /** The agent's episodes with a model elsewhere. */
  playBlackBox(model: ChatModel): Play;
  /** Ends the gateway, and what the agent's episodes shared. */
  close(): Promise<void>;
}

/** @param meter counts the calls to other models that the agent asks, its simulated users included */
export async function openAgentRun(agent: Agent, meter: SpendMeter = new SpendMeter()): Promise<AgentRun> {
  const foreign = Object.entries(agent.models).map(([name, text]) =>
    meter.metered(upstreamModel(parseUpstream(text, name, process.env.OPENAI_API_KEY))),
  );
  const users = userModels(agent, meter);
  const gateway = await new Gateway().start();
  // The one role of an agent is asked for as `policy`.
  const seatOf = (role: Role): Role | undefined => (isSeated(agent) ? role : undefined);
  const playing = (model: AgentEpisodesOptions['model']): Play =>
    agentEpisodes({ agent, gateway, foreign, users, model });
  return {
    gateway,
    demonstrations: ({ seed, clone }) => {
      const teach = agent.demonstrate;
      if (!teach) throw noTeacher(agent);
      return playing(({ key, task }, _options, role) => {
        const player = demonstrator(key, { ...clone, seed });
        return teacherModel(teach, task, player, [seed, ...keyParts(key)].join('/'), seatOf(role));
      });
    },
    playWith: (renderer) => (playerOf) =>
      playing((_request, { contextLength, sampling, constrained = false }, role) => {
        const { name: player, policy } = playerOf(role);
        const seat = seatOf(role) && { role, player };
        const limits = { contextLength, sampling, constrains: constrained };
        return policyModel({ policy, renderer, ...limits, ...(seat && { seat }) });
      }),
    playBlackBox: (model) =>
      playing((_request, _options, role) => (seatOf(role) ? { ...model, name: role, role } : model)),
    close: async () => {
      await gateway.stop();
      await agent.close?.();
    },
  };
}

/** Whether its roles are asked for by their names. */
export const isSeated = ({ roles }: Agent): boolean => roles.length > 1 || roles[0] !== AGENT;

/** The engine, whose weights now change only when no call is under way, and with which the agent's gateway ends. */
export function besideAgent(engine: Engine, { gateway, close }: AgentRun): Engine {
  return delegateTo(engine, {
    publish: () => gateway.exclusively(() => engine.publish()),
    load: (folder, options) => gateway.exclusively(() => engine.load(folder, options)),
    close: async () => {
      await close();
      await engine.close();
    },
  });
}

/** An agent from which a small model learns no words, with the ways on. */
export function noTeacher({ name }: Pick<Agent, 'name'>): TurnwiseError {
  return new TurnwiseError('no-script', {
    what: `A small model learns its words from examples, and the agent ${name} shows none`,
    seen: 'no demonstrate(), no --set data=FILE, no --model',
    next:
      'Record a model that can play it with "turnwise eval AGENT --policy openai:URL#MODEL --record FILE" and add --set data=FILE; ' +
      'or train a model that can read, with --model; or give the agent demonstrate()',
    fields: { environment: name },
  });
}
